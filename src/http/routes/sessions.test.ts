/** Sessions over HTTP. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { fn } from '../../index.ts'

let app: HttpApp
beforeEach(async () => {
  app = await openApp({ name: 'chat', functions: [fn('talk', {}, () => 'well')] })
})
afterEach(() => app.close())

test('[G1] a session is listed and shown with its memory and what changed since its last checkpoint', async () => {
  const { sessions } = app.trihand
  const id = await sessions.create()
  await sessions.remember(id, 'name', 'Ada')
  await sessions.checkpoint(id)
  await sessions.remember(id, 'topic', { words: 3 })
  await sessions.remember(id, 'book', 'x'.repeat(70_000))
  const { body } = await app.ask('/api/sessions')
  expect(body.items.map((one: { id: string }) => one.id)).toEqual([id])
  const shown = (await app.ask(`/api/sessions/${id}`)).body
  expect(shown).toMatchObject({ id, status: 'live', mode: 'interactive', forked_from: null, forks: [] })
  expect(shown.head).toMatch(/^cp_/)
  expect(shown.memory).toEqual([
    { key: 'name', value: 'Ada', bytes: null, is_changed: false },
    { key: 'topic', value: { words: 3 }, bytes: null, is_changed: true },
    { key: 'book', value: null, bytes: 70_002, is_changed: true },
  ])
})

test('[G10] the checkpoints of a session name their parents, and a fork begins at one of them', async () => {
  const { sessions } = app.trihand
  const id = await sessions.create()
  for (const word of ['a', 'b']) {
    await sessions.remember(id, word, word)
    await sessions.checkpoint(id)
  }
  const fork = await sessions.fork(id)
  const { body } = await app.ask(`/api/sessions/${id}/checkpoints`)
  const [created, first, second] = body.items
  expect([created.kind, first.kind, second.kind]).toEqual(['created', 'checkpoint', 'checkpoint'])
  expect([first.changes, second.parents]).toEqual([1, [first.id]])
  expect((await app.ask(`/api/sessions/${fork}/checkpoints`)).body.items[0]).toMatchObject({
    kind: 'created',
    id: second.id,
  })
  expect((await app.ask(`/api/sessions/${id}`)).body.forks).toMatchObject([{ id: fork, forked_from: id }])
  const page = (await app.ask(`/api/sessions/${id}/checkpoints?limit=3`)).body
  expect(page.items).toHaveLength(2)
  const rest = (await app.ask(`/api/sessions/${id}/checkpoints?limit=3&cursor=${page.next_cursor}`)).body
  expect(rest.items.map((one: { id: string }) => one.id)).toEqual([second.id])
})

test('[G10] two checkpoints are compared, also across a fork', async () => {
  const { sessions } = app.trihand
  const id = await sessions.create()
  await sessions.remember(id, 'plan', 'pilot')
  await sessions.checkpoint(id)
  await sessions.remember(id, 'book', 'x'.repeat(70_000))
  await sessions.checkpoint(id)
  const fork = await sessions.fork(id)
  await sessions.remember(fork, 'plan', 'full')
  await sessions.checkpoint(fork)
  const marks = (await app.ask(`/api/sessions/${id}/checkpoints`)).body.items
  const [first, second] = marks.slice(1).map((mark: { id: string }) => mark.id)
  const third = (await app.ask(`/api/sessions/${fork}/checkpoints`)).body.items.at(-1).id
  const book = { key: 'book', before: null, after: { value: null, bytes: 70_002 } }
  const plan = { key: 'plan', before: { value: 'pilot', bytes: null }, after: { value: 'full', bytes: null } }
  expect((await app.ask(`/api/sessions/${id}/diff?a=${first}&b=${second}`)).body.items).toEqual([book])
  for (const session of [id, fork])
    expect((await app.ask(`/api/sessions/${session}/diff?a=${first}&b=${third}`)).body.items).toEqual([book, plan])
  expect((await app.ask(`/api/sessions/${id}/diff?a=${first}`)).body.code).toBe('QUERY_UNKNOWN')
  expect((await app.ask(`/api/sessions/${id}/diff?a=${first}&b=cp_1`)).body.code).toBe('NOT_FOUND')
})

test('the runs of a session are listed', async () => {
  const id = await app.trihand.sessions.create()
  const run = await app.trihand.start('talk', {}, { session: id })
  await app.when(run, 'success')
  const { body } = await app.ask(`/api/sessions/${id}/runs`)
  expect(body.items).toMatchObject([{ id: run, session_id: id }])
})

test('an unknown session is refused, and so is a cursor of another list', async () => {
  expect((await app.ask('/api/sessions/ses_1')).body.code).toBe('NOT_FOUND')
  expect((await app.ask(`/api/sessions/ses_${'0'.repeat(32)}`)).status).toBe(404)
  expect((await app.ask('/api/sessions?cursor=7')).body.code).toBe('CURSOR_INVALID')
})
