/** The requester of what a request starts is the person of its credential, through every entry point (issue 14.5). */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { human } from '#manifest/human/humans.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { until } from '#test/support/until.ts'
import { authSettings } from './auth-settings.ts'

let app: HttpApp

beforeAll(async () => {
  const release = human('release', { trigger: 'wanted', assign: 'group:editors', separation: 'requester' })
  const ask = fn('ask', { retry: { maxAttempts: 1 } }, async ({ step }) => {
    await step.human('sign', { assign: 'group:editors', separation: 'requester' })
  })
  const cycle = fn('cycle', { source: { queue: 'wishes' } }, ({ step }) => step.invoke('one', 'ask', {}))
  const system = {
    name: 'four-eyes',
    events: { wanted: null },
    humans: [release],
    functions: [ask, cycle],
    queues: [{ name: 'wishes' }],
  }
  app = await openApp(system, undefined, {
    auth: authSettings({ host: '127.0.0.1', publicUrl: 'https://th.example' }, 'k'.repeat(32)),
  })
})
afterAll(() => app.close())

const tokens = new Map<string, string>()
const as = async (name: string, kind = 'user'): Promise<Readonly<Record<string, string>>> => {
  const intent = {
    tenant: 'local',
    name,
    kind,
    roles: kind === 'user' ? ['operator', 'decider', 'viewer'] : ['operator', 'viewer'],
    groups: ['editors'],
  }
  const token = tokens.get(name) ?? (await app.trihand.tokens.create(intent, 'test')).token
  tokens.set(name, token)
  return { authorization: `Bearer ${token}` }
}

interface Shown {
  readonly id: string
  readonly requester: string | null
}

const openTasks = async (): Promise<readonly Shown[]> =>
  (await app.ask('/api/tasks', { headers: await as('cleo') })).body.items

/** Expects one open task that ana may not decide and bob may. */
const expectAnaExcluded = async (): Promise<void> => {
  const [task] = await until(openTasks, (tasks) => tasks.length === 1, { what: 'a task is open' })
  expect(task?.requester).toBe('ana')
  const { body } = await app.ask(`/api/tasks/${task?.id}`, { headers: await as('bob') })
  const decide = async (who: string) =>
    app.post(`/api/tasks/${task?.id}/decision`, { action: 'approve', shown_hash: body.shown_hash }, await as(who))
  expect((await decide('ana')).body.code).toBe('SEPARATION_OF_DUTIES')
  expect((await decide('bob')).status).toBe(200)
  await until(openTasks, (tasks) => tasks.length === 0, { what: 'no task is open' })
}

test('[C5] requester-1: POST /api/events, and a batch of events, take the requester from the credential (14.5)', async () => {
  await app.post('/api/events', { type: 'wanted', data: { requester: 'bob' } }, await as('ana'))
  await expectAnaExcluded()
  const event = { specversion: '1.0', id: 'one', source: '/shop', type: 'wanted', data: {} }
  const batch = { ...(await as('ana')), 'content-type': 'application/cloudevents-batch+json' }
  await app.post('/api/events', [event], batch)
  await expectAnaExcluded()
})

test('[C5] requester-1: POST /api/runs takes the requester from the credential (14.5)', async () => {
  expect((await app.post('/api/runs', { name: 'ask' }, await as('ana'))).status).toBe(201)
  await expectAnaExcluded()
})

test('[C5] requester-1: a message in a queue takes the requester from the credential (14.5)', async () => {
  expect((await app.post('/api/queues/wishes', { data: {} }, await as('ana'))).status).toBe(202)
  await expectAnaExcluded()
})

test('[C5] requester-1: a program that works with the credential of a person, as over MCP, has that person as the requester (14.5)', async () => {
  await app.post('/api/runs', { name: 'ask' }, { ...(await as('ana')), 'x-trihand-kind': 'agent' })
  await expectAnaExcluded()
})

test('[C5] requester-1: the credential of a service is no person: the field counts, and without it the run fails (14.5)', async () => {
  await app.post('/api/events', { type: 'wanted', data: { requested_by: 'ana' } }, await as('crm', 'service'))
  await expectAnaExcluded()
  const { body } = await app.post('/api/runs', { name: 'ask' }, await as('crm', 'service'))
  const run = await until(
    async () => (await app.ask(`/api/runs/${body.id}`, { headers: await as('bob') })).body,
    ({ status }) => status === 'failed',
    { what: 'the run has failed' },
  )
  expect(run.error).toMatchObject({ code: 'REQUESTER_UNKNOWN' })
  expect(await openTasks()).toEqual([])
})
