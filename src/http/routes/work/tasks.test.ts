/** Tasks over HTTP, on a real engine: inboxes, decisions, and all refusals. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { human } from '#manifest/human/humans.ts'
import { type Answer, type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { until } from '#test/support/until.ts'

const ANA = { 'x-trihand-user': 'ana', 'x-trihand-groups': 'editors, leads' }
const EVE = { 'x-trihand-user': 'eve' }

let app: HttpApp
beforeEach(async () => {
  app = await openApp({
    name: 'letters',
    events: { 'letter.ready': null },
    humans: [
      human('review', {
        trigger: 'letter.ready',
        title: 'Letter {{ payload.n }}',
        assign: 'group:editors',
        escalation: [{ to: 'user:cfo' }],
        bundle: { sections: [{ id: 'letter', type: 'editable', content: { text: '{{ payload.text }}' } }] },
      }),
    ],
  })
})
afterEach(() => app.close())

const get = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  app.ask(path, { headers })

/** Sends a letter and returns its task, as its reviewer sees it. */
const aTask = async (n = 1): Promise<Answer['body']> => {
  const run = await app.started('letter.ready', { n, text: 'Dear all' })
  const { body } = await until(
    () => get(`/api/tasks?run=${run}`),
    (answer) => answer.body.items.length === 1,
    { what: 'the task is there' },
  )
  return (await get(`/api/tasks/${body.items[0].id}`, ANA)).body
}

const decide = (task: Answer['body'], body: object, headers: Readonly<Record<string, string>> = ANA): Promise<Answer> =>
  app.post(`/api/tasks/${task.id}/decision`, { shown_hash: task.shown_hash, ...body }, headers)

test('[C2] an inbox lists the tasks that are assigned to a person or their groups, page by page', async () => {
  const [first, second] = [await aTask(1), await aTask(2)]
  const { body } = await get('/api/tasks?limit=1&order=oldest', ANA)
  expect(body.items).toMatchObject([
    { id: first.id, title: 'Letter 1', status: 'pending', assignees: ['group:editors'], items: 1, is_overdue: false },
  ])
  const next = await get(`/api/tasks?limit=1&order=oldest&cursor=${body.next_cursor}`, ANA)
  expect(next.body).toMatchObject({ items: [{ id: second.id }], next_cursor: null })
  expect((await get('/api/tasks', EVE)).body.items).toEqual([])
  expect((await get('/api/tasks?all=true', EVE)).body.items).toHaveLength(2)
  expect((await get('/api/tasks/counts', ANA)).body).toEqual({
    ...{ pending: 2, in_review: 0, revision_requested: 0 },
    more: [],
  })
})

test('a task is shown with its content, the hash of that, and the actions that the caller may take', async () => {
  const task = await aTask()
  expect(task).toMatchObject({
    type: 'approval',
    title: 'Letter 1',
    status: 'pending',
    is_open: true,
    sections: [{ id: 'letter', items: [{ id: 'letter', content: { text: 'Dear all' }, status: 'pending_review' }] }],
    allowed_actions: ['approve', 'reject', 'edit', 'reassign', 'escalate'],
  })
  expect((await get(`/api/tasks/${task.id}`, EVE)).body.allowed_actions).toEqual([])
  expect((await get(`/api/tasks/${task.id}`)).headers.get('etag')).toBe('"1"')
})

test('[S5] reading a task never changes it', async () => {
  const { id, version } = await aTask()
  for (const path of ['/api/tasks', `/api/tasks/${id}`, `/api/tasks/${id}`]) await get(path, ANA)
  expect((await get(`/api/tasks/${id}`)).body).toMatchObject({ version, status: 'pending', viewed_by: [] })
})

test('[C5][C14] a decision ends the task and the run; a second one is refused with the name of the first decider', async () => {
  const task = await aTask()
  await app.post(`/api/tasks/${task.id}/view`, {}, ANA)
  const { status, body } = await decide(task, { action: 'approve' })
  expect(status).toBe(200)
  expect(body).toMatchObject({
    status: 'approved',
    end: { decision: 'approve', decided_by: 'ana' },
    viewed_by: ['ana'],
  })
  expect(await app.when(task.run_id, 'success')).toMatchObject({ output: { decided_by: 'ana' } })
  const late = await decide(task, { action: 'reject', reason: 'no' })
  expect(late.body).toMatchObject({ status: 409, code: 'TASK_CLOSED', detail: expect.stringContaining('ana') })
  expect((await get('/api/tasks?status=approved')).body.items).toMatchObject([{ id: task.id, decided_by: 'ana' }])
})

test('[C6] the run continues with the edited content', async () => {
  const task = await aTask()
  const items = { letter: { status: 'edited', modifications: { text: 'Dear Bo' } } }
  expect((await decide(task, { action: 'edit', items })).body.sections[0].items[0]).toMatchObject({
    status: 'edited',
    content: { text: 'Dear Bo' },
  })
})

test('the same idempotency key decides once, and repeats the answer', async () => {
  const task = await aTask()
  const keyed = { ...ANA, 'idempotency-key': 'k-1' }
  expect((await decide(task, { action: 'approve' }, keyed)).headers.get('idempotency-replayed')).toBeNull()
  const again = await decide(task, { action: 'approve' }, keyed)
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([200, 'true'])
  expect((await decide(task, { action: 'reject', reason: 'no' }, keyed)).body).toMatchObject({
    code: 'IDEMPOTENCY_MISMATCH',
  })
})

test.each([
  ['nobody', {}, 401, 'UNAUTHENTICATED'],
  ['an agent', { ...ANA, 'x-trihand-kind': 'agent' }, 403, 'AGENT_CANNOT_DECIDE'],
  ['a stranger', EVE, 403, 'TASK_FORBIDDEN'],
  ['something else', { ...ANA, 'x-trihand-kind': 'god' }, 401, 'UNAUTHENTICATED'],
])('%s cannot decide', async (_, headers, status, code) => {
  const task = await aTask()
  expect((await decide(task, { action: 'approve' }, headers)).body).toMatchObject({ status, code })
  expect((await get(`/api/tasks/${task.id}`)).body).toMatchObject({ is_open: true })
})

test.each([
  [{ action: 'approve', shown_hash: 'old' }, 409, 'STALE_VIEW'],
  [{ action: 'fly' }, 422, 'ACTION_NOT_ALLOWED'],
  [{ action: 'reject' }, 422, 'REASON_REQUIRED'],
  [{ action: 'approve', items: { letter: { status: 'maybe' } } }, 422, 'INPUT_INVALID'],
  [{ action: 'approve', also: 1 }, 422, 'INPUT_INVALID'],
])('the decision %j is refused', async (body, status, code) => {
  expect((await decide(await aTask(), body)).body).toMatchObject({ status, code })
})

test('[C14] a decision on outdated content is refused with the current content, on which it can be repeated', async () => {
  const task = await aTask()
  const { body: stale } = await decide(task, { action: 'approve', shown_hash: 'old' })
  expect(stale).toMatchObject({ code: 'STALE_VIEW', task: { id: task.id, shown_hash: task.shown_hash, is_open: true } })
  const again = await decide(task, { action: 'approve', shown_hash: stale.task.shown_hash })
  expect(again.body).toMatchObject({ is_open: false, status: 'approved' })
})

test('[C17] a decision that would ignore newer drafts of its author is refused with those drafts (13.1.5)', async () => {
  const task = await aTask()
  const path = `/api/tasks/${task.id}/drafts`
  const headers = { ...ANA, 'content-type': 'application/json' }
  const save = (body: object) => app.ask(path, { method: 'PATCH', body: JSON.stringify(body), headers })
  const content = { verdict: 'approve', content: { text: 'Dear friend' } }
  // One tab edits; another one, which has seen no draft, approves the old text.
  expect((await save({ item: 'letter', content, draft_revision: 0 })).body).toMatchObject({ draft_revision: 1 })
  const old = { action: 'approve', shown_hash: task.shown_hash }
  for (const seen of [{}, { draft_revision: 0 }, { draft_revision: null }]) {
    const { status, body } = await decide(task, { ...old, ...seen })
    expect(status).toBe(409)
    expect(body).toMatchObject({
      code: 'DRAFTS_NEWER',
      task: { is_open: true, draft_revision: 1, drafts: [{ content }] },
    })
  }
  expect((await save({ item: 'letter', content: null, draft_revision: 0 })).body).toMatchObject({
    code: 'DRAFTS_NEWER',
  })
  expect((await save({ item: 'letter', content, draft_revision: -1 })).body).toMatchObject({ code: 'INPUT_INVALID' })
  const many = { decisions: [{ task: task.id, ...old }] }
  expect((await app.post('/api/tasks/decisions', many, ANA)).body.items).toMatchObject([
    { status: 409, problem: { code: 'DRAFTS_NEWER' } },
  ])
  // A person who has seen the draft may still decide on the old text; the closed task shows that text, whatever the draft says.
  const { body } = await decide(task, { ...old, draft_revision: 1 })
  expect(body).toMatchObject({ status: 'approved', end: { decided_by: 'ana', fields: {} } })
  const shown = (await get(`/api/tasks/${task.id}`, ANA)).body
  expect(JSON.stringify(shown.sections)).not.toContain('Dear friend')
})

test('[C7][C8][C17] a task is claimed, drafted, put off, escalated and reassigned', async () => {
  const { id } = await aTask()
  const post = (verb: string, body: object, headers = ANA) => app.post(`/api/tasks/${id}/${verb}`, body, headers)
  expect((await post('claim', {})).body).toMatchObject({ claimed_by: 'ana' })
  expect((await post('unclaim', {})).body).toMatchObject({ claimed_by: null })
  const draft = { method: 'PATCH', body: JSON.stringify({ item: 'letter', content: { text: 'Dear' } }) }
  const headers = { ...ANA, 'content-type': 'application/json' }
  expect((await app.ask(`/api/tasks/${id}/drafts`, { ...draft, headers })).body.drafts).toEqual([
    { item: 'letter', content: { text: 'Dear' }, is_stale: false },
  ])
  expect((await get(`/api/tasks/${id}`)).body.drafts).toEqual([])
  await post('follow-up', { until: '2999-01-01T00:00:00Z' })
  expect((await get('/api/tasks', ANA)).body.items).toEqual([])
  expect((await post('follow-up', { until: 'tomorrow' })).body).toMatchObject({ code: 'INSTANT_WITHOUT_ZONE' })
  expect((await post('escalate', { reason: 'too hard' })).body).toMatchObject({
    assignees: { users: ['cfo'] },
    level: 1,
  })
  expect((await post('reassign', { to: ['user:eve'] })).body).toMatchObject({ assignees: { users: ['eve'] } })
  expect((await get('/api/tasks', EVE)).body.items).toMatchObject([{ id }])
})

test('[C16] each of many decisions has its own result', async () => {
  const [first, second] = [await aTask(1), await aTask(2)]
  const decisions = [first, second].map(({ id, shown_hash }, i) => ({
    task: id,
    action: i === 0 ? 'approve' : 'reject',
    shown_hash,
  }))
  const { status, body } = await app.post('/api/tasks/decisions', { decisions }, ANA)
  expect(status).toBe(207)
  expect(body.items).toMatchObject([
    { task: first.id, status: 200, state: 'approved' },
    { task: second.id, status: 422, problem: { code: 'REASON_REQUIRED' } },
  ])
})

test('an unknown task, a bad cursor and an unknown parameter are refused', async () => {
  const nobody = `tsk_${'0'.repeat(12)}83${'0'.repeat(18)}`
  expect((await get(`/api/tasks/${nobody}`)).body).toMatchObject({ code: 'NOT_FOUND' })
  expect((await get('/api/tasks/7')).body).toMatchObject({ code: 'NOT_FOUND' })
  expect((await get('/api/tasks?cursor=x')).body).toMatchObject({ code: 'CURSOR_INVALID' })
  expect((await get('/api/tasks?colour=red')).body).toMatchObject({ code: 'QUERY_UNKNOWN' })
})
