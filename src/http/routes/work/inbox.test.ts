/** The inbox over HTTP, on a real engine: views and their counts, the history of a task, marks by a rule. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { human } from '#manifest/human/humans.ts'
import { type Answer, type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { until } from '#test/support/until.ts'

const ANA = { 'x-trihand-user': 'ana', 'x-trihand-groups': 'editors' }
const EVE = { 'x-trihand-user': 'eve' }

let app: HttpApp
beforeEach(async () => {
  app = await openApp({
    name: 'letters',
    events: { 'letters.ready': null },
    humans: [
      human('review', {
        trigger: 'letters.ready',
        title: 'Letters',
        assign: 'group:editors',
        escalation: [{ to: ['group:editors', 'user:cfo'] }],
        bundle: {
          sections: [{ id: 'letters', type: 'review_items', items: { expr: 'payload.letters' }, editable: true }],
        },
      }),
    ],
  })
})
afterEach(() => app.close())

const LETTERS = [
  { id: 'a', title: 'To Ada', confidence: 0.95 },
  { id: 'b', title: 'To Bo', confidence: 0.4 },
  { id: 'c', title: 'To Cy' },
]

const get = (path: string, headers: Readonly<Record<string, string>> = ANA): Promise<Answer> =>
  app.ask(path, { headers })

const aTask = async (): Promise<Answer['body']> => {
  const run = await app.started('letters.ready', { letters: LETTERS })
  const { body } = await until(
    () => get(`/api/tasks?run=${run}`),
    (answer) => answer.body.items.length === 1,
    { what: 'the task is there' },
  )
  return (await get(`/api/tasks/${body.items[0].id}`)).body
}

const mark = ({ id }: Answer['body'], body: object, headers: Readonly<Record<string, string>> = ANA): Promise<Answer> =>
  app.post(`/api/tasks/${id}/marks`, body, headers)

const listed = async (view: string): Promise<readonly string[]> =>
  (await get(`/api/tasks?view=${view}`)).body.items.map(({ id }: { id: string }) => id)

test('[C2][C8] each view lists its tasks and has a count', async () => {
  const [plain, taken, handedOn, later] = [await aTask(), await aTask(), await aTask(), await aTask()]
  const post = ({ id }: Answer['body'], verb: string, body: object) => app.post(`/api/tasks/${id}/${verb}`, body, ANA)
  await post(taken, 'claim', {})
  await post(handedOn, 'escalate', { reason: 'too hard' })
  await post(later, 'follow-up', { until: '2999-01-01T00:00:00Z' })
  expect((await get('/api/tasks/views')).body).toEqual({
    ...{ mine: 3, groups: 3, unassigned: 2, overdue: 0, escalated: 1, later: 1 },
    more: [],
  })
  expect(await listed('mine')).toEqual([handedOn.id, taken.id, plain.id])
  expect(await listed('unassigned')).toEqual([handedOn.id, plain.id])
  expect(await listed('escalated')).toEqual([handedOn.id])
  expect(await listed('later')).toEqual([later.id])
  expect(await listed('overdue')).toEqual([])
  expect((await get('/api/tasks/views', EVE)).body).toMatchObject({ mine: 0, more: [] })
  expect((await get('/api/tasks?view=colourful')).body).toMatchObject({ code: 'QUERY_UNKNOWN' })
  const [row] = (await get('/api/tasks?view=escalated')).body.items
  expect(row).toMatchObject({ origin: 'human', escalation_reason: 'too hard', items: 3, edited: 0, viewing: null })
  expect((await get(`/api/tasks/${later.id}`)).body).toMatchObject({ put_off_until: '2999-01-01T00:00:00.000Z' })
})

test('[C14] the history of a task shows who viewed, escalated and decided it, and no drafts', async () => {
  const task = await aTask()
  const post = (verb: string, body: object) => app.post(`/api/tasks/${task.id}/${verb}`, body, ANA)
  await post('view', {})
  await mark(task, { where: 'true', status: 'approved' })
  await post('escalate', { reason: 'too hard' })
  // The person who marks by a rule and then rejects everything has seen the marks.
  await post('decision', { action: 'reject', reason: 'no', shown_hash: task.shown_hash, draft_revision: 3 })
  const { body } = await get(`/api/tasks/${task.id}/history`)
  expect(body.items.map(({ what, by, text }: Record<string, string>) => [what, by, text])).toEqual([
    ['opened', null, 'asked editors'],
    ['viewed', 'ana', 'has seen it'],
    ['escalated', 'ana', 'escalated it to cfo, editors: too hard'],
    ['decided', 'ana', 'reject: no'],
  ])
  const first = (await get(`/api/tasks/${task.id}/history?limit=1`)).body
  expect(first.items).toHaveLength(1)
  const rest = (await get(`/api/tasks/${task.id}/history?cursor=${first.next_cursor}`)).body
  expect([...first.items, ...rest.items]).toEqual(body.items)
})

test('[C17] a rule saves marks on the items it is true of as drafts of the caller, and decides nothing', async () => {
  const task = await aTask()
  const { status, body } = await mark(task, { where: 'item.confidence >= 0.9', status: 'approved' })
  expect(status).toBe(200)
  expect(body).toMatchObject({ marked: ['a'], unclear: [{ item: 'c' }], task: { is_open: true, status: 'pending' } })
  expect(body.task.drafts).toEqual([{ item: 'a', content: { verdict: 'approve' }, is_stale: false }])
  await mark(task, { where: 'title.startsWith("To B")', status: 'rejected' })
  expect((await get(`/api/tasks/${task.id}`)).body.drafts).toHaveLength(2)
  expect((await get(`/api/tasks/${task.id}`, { ...ANA, 'x-trihand-user': 'bob' })).body.drafts).toEqual([])
})

test.each([
  [{ where: 'item.confidence >', status: 'approved' }, 422, 'EXPR_REJECTED'],
  [{ where: 'payload.x == 1', status: 'approved' }, 422, 'EXPR_REJECTED'],
  [{ where: 'true', status: 'maybe' }, 422, 'INPUT_INVALID'],
  [{ status: 'approved' }, 422, 'INPUT_INVALID'],
])('a mark by %j is refused', async (body, status, code) => {
  expect((await mark(await aTask(), body)).body).toMatchObject({ status, code })
})

test('[C17] a person who may not decide cannot mark items', async () => {
  const task = await aTask()
  const rule = { where: 'true', status: 'approved' }
  expect((await mark(task, rule, EVE)).body).toMatchObject({ code: 'TASK_FORBIDDEN' })
  expect((await mark(task, rule, { ...ANA, 'x-trihand-kind': 'agent' })).body).toMatchObject({
    code: 'AGENT_CANNOT_DECIDE',
  })
})
