/** What the command line and HTTP report about runs that are queued by flow control. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildCommand, Folder, type Server } from '#test/support/serving/command.ts'
import { until } from '#test/support/until.ts'

const SYSTEM = `
import { defineSystem, fn } from 'trihand'
export default defineSystem({
  name: 'turns',
  events: { 'order.placed': null, 'order.signed': null },
  functions: [
    fn('pack', { trigger: 'order.placed', overlap: 'buffer_all' }, async ({ input, step }) => {
      await step.waitForEvent('signed', { event: 'order.signed', match: 'payload.id' })
      return input
    }),
    fn('bill', { trigger: { event: 'order.placed', filter: 'payload.price > 0' }, overlap: 'skip' }, () => 'billed'),
  ],
})
`

beforeAll(buildCommand, 120_000)

let folder: Folder
let server: Server
beforeAll(async () => {
  folder = new Folder({ 'system.ts': SYSTEM })
  server = await folder.serve(['dev', '.', '--port', '0'])
})
afterAll(() => folder.remove())

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any document without ceremony
const json = async (path: string, init?: RequestInit): Promise<{ status: number; body: any }> => {
  const answer = await fetch(`${server.url}${path}`, init)
  return { status: answer.status, body: await answer.json() }
}
const post = (path: string, body: unknown) =>
  json(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })

test('[F2] over HTTP and the command line a queued run says why it waits, and can be cancelled (13.2.1)', async () => {
  await post('/api/runs', { name: 'pack', input: { id: 'a' } })
  const [second, third] = [
    await post('/api/runs', { name: 'pack', input: { id: 'b' } }),
    await post('/api/runs', { name: 'pack', input: { id: 'c' } }),
  ]
  expect(await json(`/api/runs/${second.body.id}?wait=1s`)).toMatchObject({
    status: 200,
    body: { status: 'queued', handler: 'pack', waiting_on: [{ kind: 'turn' }] },
  })
  const why = await folder.run(['runs', 'why', second.body.id])
  expect([why.code, why.stdout]).toEqual([0, expect.stringContaining('an earlier run of the handler has not ended')])
  expect((await folder.run(['runs', 'pause', second.body.id])).stderr).toContain('RUN_QUEUED')
  await folder.json(['runs', 'cancel', second.body.id])
  expect(await json(`/api/runs/${second.body.id}`)).toMatchObject({ body: { status: 'cancelled' } })
  await post('/api/events', { type: 'order.signed', data: { id: 'a' } })
  await until(
    () => json(`/api/runs/${third.body.id}`),
    ({ body }) => body.status === 'waiting',
  )
  await post('/api/events', { type: 'order.signed', data: { id: 'c' } })
  expect(await json(`/api/runs/${third.body.id}?wait=20s`)).toMatchObject({
    body: { status: 'success', output: { id: 'c' } },
  })
  expect((await json('/api/runs/run_00000000000070008000000000000000')).status).toBe(404)
})

test('[L2] send --wait waits for handlers behind flow control, and a receipt says why a handler does not start (13.2.1)', async () => {
  const receipt = await post('/api/events', { type: 'order.placed', data: { id: 'd', price: 0 } })
  expect(receipt.body).toMatchObject({
    runs: [],
    pending: ['pack'],
    suppressed: [{ trigger: 'bill', reason: 'filter' }],
  })
  await post('/api/events', { type: 'order.signed', data: { id: 'd' } })
  const sending = folder.json(['send', 'order.placed', '{"id":"e","price":1}', '--wait', '15s'])
  await until(
    () => json('/api/runs?handler=pack'),
    ({ body }) => body.items.length === 5 && body.items[0].status === 'waiting',
  )
  await post('/api/events', { type: 'order.signed', data: { id: 'e' } })
  const sent = await sending
  expect(sent).toMatchObject({ pending: [], suppressed: [] })
  expect(
    sent.results.map(({ handler, status }: { handler: string; status: string }) => [handler, status]).sort(),
  ).toEqual([
    ['bill', 'success'],
    ['pack', 'success'],
  ])
})
