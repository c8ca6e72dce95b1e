/** Plans over HTTP, on a real engine. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { human } from '#manifest/human/humans.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { until } from '#test/support/until.ts'

let app: HttpApp
beforeEach(async () => {
  app = await openApp({
    name: 'mailing',
    functions: [fn('get-all-contacts', {}, () => ['ana']), fn('send-emails', {}, ({ input }) => input)],
    humans: [human('sign', { assign: 'user:ana', actions: ['approve'] })],
  })
})
afterEach(() => app.close())

const TEXT = 'a. Get all contacts\nb. Send emails: "Hello" (requires step a)'
const ana = { 'x-trihand-user': 'ana' }
const put = (path: string, body: object, headers: Record<string, string> = {}) =>
  app.ask(path, {
    method: 'PUT',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  })

test('[N3] a plan is drafted, revised, approved by its hash and run; an approval is valid for one revision only', async () => {
  const made = await app.post('/api/plans', { text: TEXT })
  expect([made.status, made.headers.get('etag'), made.headers.get('location')]).toEqual([
    201,
    '"1"',
    `/api/plans/${made.body.id}`,
  ])
  expect(made.body).toMatchObject({
    ...{ status: 'draft', revision: 1, errors: [], approval: null, runs: [], text: TEXT, source: null },
    steps: [
      { id: 'a', name: 'Get all contacts', requires: [], by: 'get-all-contacts', hand: 'workflow' },
      { id: 'b', requires: ['a'], by: 'send-emails' },
    ],
  })
  const at = `/api/plans/${made.body.id}`
  expect((await app.post(`${at}/runs`, {})).body.code).toBe('PLAN_NOT_APPROVED')
  expect((await put(at, { text: 'a. Sign' })).body.code).toBe('PRECONDITION_REQUIRED')
  const revised = await put(at, { text: TEXT, goal: 'Greet' }, { 'if-match': '"1"' })
  expect([revised.status, revised.headers.get('etag'), revised.body.revision]).toEqual([200, '"2"', 2])
  expect((await put(at, { text: 'a. Sign' }, { 'if-match': '"1"' })).body.code).toBe('PRECONDITION_FAILED')
  expect((await app.post(`${at}/approve`, { hash: made.body.hash }, ana)).body.code).toBe('PLAN_STALE')
  const agent = { ...ana, 'x-trihand-kind': 'agent' }
  expect((await app.post(`${at}/approve`, { hash: revised.body.hash }, agent)).body.code).toBe('AGENT_CANNOT_DECIDE')
  const approved = await app.post(`${at}/approve`, { hash: revised.body.hash }, ana)
  expect(approved.body).toMatchObject({ status: 'approved', approval: { by: 'ana', hash: revised.body.hash } })
  const run = await app.post(`${at}/runs`, { input: { to: 'all' } })
  expect(run.status).toBe(201)
  await until(
    () => app.ask(`/api/runs/${run.body.id}`),
    ({ body }) => body.status === 'success',
    { what: 'the plan is done' },
  )
  expect((await app.ask(at)).body.runs).toMatchObject([{ id: run.body.id, status: 'success' }])
  expect((await app.ask('/api/plans')).body.items).toMatchObject([{ id: made.body.id, goal: 'Greet' }])
})

test('[N2] every error of a draft is reported with its line, and a plan with errors cannot be approved', async () => {
  const errorsOf = async (body: object) => (await app.post('/api/plans', body)).body.errors
  expect(await errorsOf({ text: 'a. Send emails\nand then\n\nso on' })).toMatchObject([
    { code: 'PLAN_SYNTAX', line: 2 },
    { code: 'PLAN_SYNTAX', line: 4 },
  ])
  expect(await errorsOf({ text: 'a. Send emails (requires step x)\nb. Sign (requires steps y and a)' })).toMatchObject([
    { code: 'PLAN_BAD_REF', line: 1, step: 'a' },
    { code: 'PLAN_BAD_REF', line: 2, step: 'b' },
  ])
  expect(await errorsOf({ text: 'a. Sign (requires step b)\nb. Sign (requires step a)' })).toMatchObject([
    { code: 'PLAN_CYCLE', line: 1 },
  ])
  expect(await errorsOf({ text: 'a. Sign\n\nb. Send emals\nc. Dance' })).toMatchObject([
    { code: 'PLAN_UNASSIGNED', line: 3, message: expect.stringContaining('did you mean send-emails?') },
    { code: 'PLAN_UNASSIGNED', line: 4 },
  ])
  expect(await errorsOf({ text: '' })).toMatchObject([{ code: 'PLAN_SYNTAX' }])
  expect(await errorsOf({ steps: [{ id: 'a', requires: { no: 1 }, asigned_to: 'sign' }] })).toMatchObject([
    { code: 'INPUT_INVALID', step: 'a', message: expect.stringContaining('did you mean assigned_to?') },
    { code: 'INPUT_INVALID', step: 'a', message: expect.stringContaining('is not a text') },
  ])
  const { body } = await app.post('/api/plans', { text: 'a. Dance' })
  expect((await app.post(`/api/plans/${body.id}/approve`, { hash: body.hash }, ana)).body.code).toBe('PLAN_UNASSIGNED')
})

test('steps with the keys of a manifest are accepted as a plan, and its text is written for people', async () => {
  const steps = [
    { name: 'Get all contacts', assigned_to: 'get-all-contacts' },
    { id: 'ok', type: 'approval', requires: 'get-all-contacts', human_config: { title: 'Send?' } },
    { id: 'send', workflow_config: { function_name: 'send-emails' }, requires: ['get-all-contacts', 'ok'] },
  ]
  const { body } = await app.post('/api/plans', { steps })
  expect(body).toMatchObject({ errors: [], source: [{ assignedTo: 'get-all-contacts' }, {}, {}] })
  expect(body.steps.map(({ by, hand }: { by: string; hand: string }) => [by, hand])).toEqual([
    ['get-all-contacts', 'workflow'],
    ['people', 'human'],
    ['send-emails', 'workflow'],
  ])
  expect(body.text).toContain('send. send (requires steps get-all-contacts and ok)')
})

test('an unclear plan is answered with a question, an unknown form is refused, a discarded plan does not run', async () => {
  const asked = await app.post('/api/plans', { english: 'Book a flight to Paris' })
  expect([asked.status, asked.body.code, asked.body.detail]).toEqual([
    422,
    'PLAN_QUESTION',
    expect.stringContaining('send emails'),
  ])
  expect((await app.post('/api/plans', { english: 'Send emails!' })).body).toMatchObject({ errors: [], revision: 1 })
  for (const body of [{}, { text: 'a. Sign', english: 'Sign' }, { text: 7 }])
    expect((await app.post('/api/plans', body)).body.code).toBe('INPUT_INVALID')
  expect((await app.post('/api/plans', { text: 'x'.repeat(70_000) })).body.code).toBe('PAYLOAD_TOO_LARGE')
  expect((await app.ask('/api/plans/pln_none')).body.code).toBe('NOT_FOUND')
  expect((await app.ask('/api/plans?cursor=x')).body.code).toBe('CURSOR_INVALID')
  const { body } = await app.post('/api/plans', { text: TEXT })
  await app.post(`/api/plans/${body.id}/approve`, { hash: body.hash }, ana)
  expect((await app.post(`/api/plans/${body.id}/discard`, {})).body.status).toBe('discarded')
  expect((await app.post(`/api/plans/${body.id}/runs`, {})).body.code).toBe('PLAN_STALE')
})

test('an approval is not valid for a system in which another modality would execute a step', async () => {
  const { body } = await app.post('/api/plans', { text: 'a. Sign' })
  await app.post(`/api/plans/${body.id}/approve`, { hash: body.hash }, ana)
  await app.trihand.replace({ name: 'mailing', functions: [fn('sign', {}, () => 'signed')] })
  expect((await app.post(`/api/plans/${body.id}/runs`, {})).body.code).toBe('PLAN_STALE')
})
