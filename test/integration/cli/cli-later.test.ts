/** Delayed events, and runs in a session, from the command line and over HTTP. */
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { buildCommand, Folder } from '#test/support/serving/command.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { fn } from '../../../src/index.ts'

const MANIFEST = `product: {name: shop}
events: [{name: order.placed, source: external, payload: {id: string!}}, {name: cart.signed, source: human}]
functions: [{name: pack, trigger: order.placed}]
schedules: [{name: once, in: 5m, function: pack}]
`
const CODE = 'export default ({ input }) => input\n'

let folder: Folder
let app: HttpApp
beforeAll(buildCommand, 120_000)
beforeEach(async () => {
  folder = new Folder({ 'manifest.yaml': MANIFEST, 'functions/pack.ts': CODE })
  app = await openApp({
    name: 'shop',
    events: { 'order.placed': null },
    functions: [fn('note', { trigger: 'order.placed' }, ({ recall }) => recall('name'))],
  })
})
afterEach(async () => {
  await folder.remove()
  await app.close()
})

test('trihand send --delay stores an event until its time, and refuses an invalid one at once (15.1.3)', async () => {
  const sent = await folder.json(['send', 'order.placed', '{"id":"o1"}', '--subject', 'box', '--delay', '2h'])
  expect(sent).toMatchObject({ sequence: 0, runs: [], duplicate: false })
  const due = Date.parse(sent.due_at) - Date.now()
  expect(due).toBeGreaterThan(7_000_000)
  expect((await folder.json(['events', 'list'])).items).toEqual([])
  expect((await folder.json(['events', 'list', '--delayed'])).items).toMatchObject([
    { id: sent.id, type: 'order.placed', subject: 'box', data: { id: 'o1' } },
  ])
  expect((await folder.run(['events', 'cancel', sent.id])).code).toBe(0)
  expect((await folder.json(['events', 'list', '--delayed'])).items).toEqual([])
  const refused = [
    [['order.placed', '{}', '--delay', '2h'], 'EVENT_INVALID'],
    [['order.plcaed', '{"id":"o1"}', '--delay', '2h'], 'EVENT_UNKNOWN'],
    [['cart.signed', '{}', '--delay', '2h'], 'EVENT_HUMAN_ONLY'],
    [['order.placed', '{"id":"o1"}', '--delay', 'soon'], 'is not a duration'],
    [['order.placed', '{"id":"o1"}', '--delay', '2h', '--id', 'e1'], 'cannot have its own id'],
    [['order.placed', '{"id":"o1"}', '--delay', '2h', '--wait', '1s'], 'omit --wait or --delay'],
  ] as const
  for (const [args, said] of refused) {
    const { code, stderr } = await folder.run(['send', ...args])
    expect([args, code === 0, stderr]).toEqual([args, false, expect.stringContaining(said)])
  }
})

test('a delayed event is sent at its time, once for each Idempotency-Key (15.1.3)', async () => {
  const body = { type: 'order.placed', data: { n: 1 }, delay: '1ms' }
  const [first, second] = [
    await app.post('/api/events', body, { 'idempotency-key': 'k1' }),
    await app.post('/api/events', body, { 'idempotency-key': 'k1' }),
  ]
  expect([first.status, second.body]).toEqual([202, first.body])
  await app.when(first.body.id, 'success')
  const { body: events } = await app.ask('/api/events')
  expect(events.items).toMatchObject([{ type: 'order.placed', data: { n: 1 }, causation_id: first.body.id }])
  const { status } = await app.post('/api/events', { ...body, delay: '0s' })
  expect(status).toBe(202)
})

test('trihand start --session uses an existing session, and refuses an unknown one (15.1.3)', async () => {
  const session = await app.trihand.sessions.create()
  await app.trihand.sessions.remember(session, 'name', 'Ada')
  const { body } = await app.post('/api/runs', { name: 'note', session })
  expect(await app.when(body.id, 'success')).toMatchObject({ output: 'Ada' })
  const other = session.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  for (const wrong of [other, 'no id'])
    expect((await app.post('/api/runs', { name: 'note', session: wrong })).body).toMatchObject({ code: 'NOT_FOUND' })
  expect((await app.ask(`/api/sessions/${session}/runs`)).body.items).toMatchObject([{ id: body.id }])
  const { code, stderr } = await folder.run(['start', 'pack', '{"id":"o1"}', '--session', other])
  expect([code, stderr]).toEqual([3, expect.stringContaining(`there is no session ${other}`)])
})
