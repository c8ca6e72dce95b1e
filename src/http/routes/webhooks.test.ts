/** Webhooks over HTTP: which paths and methods there are, and what is answered. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type HttpApp, openApp } from '../../../test/support/http-app.ts'
import { fn } from '../../executors/workflow/function.ts'

let app: HttpApp

beforeAll(async () => {
  app = await openApp({
    name: 'shop',
    events: { 'order.placed': null, 'order.paid': null },
    webhooks: [
      { name: 'orders', auth: 'none', unsigned: true, emits: 'order.placed' },
      { name: 'pay', path: '/hooks/bank/pay', auth: 'bearer', secret: 'open sesame', emits: 'order.paid' },
      { name: 'odd', auth: 'none', unsigned: true, emits: 'order.placed', transform: { n: '{{ body.n }}' } },
    ],
    functions: [fn('ship', { trigger: 'order.placed' }, ({ input }) => input)],
  })
})
afterAll(() => app.close())

test('[L1] a delivery is answered with the receipt once it is on disk, a repeat with the first one', async () => {
  const first = await app.post('/hooks/orders', { n: 1 }, { 'webhook-id': 'a' })
  const again = await app.post('/hooks/orders', { n: 1 }, { 'webhook-id': 'a' })
  expect([first.status, again.status]).toEqual([202, 200])
  expect(again.body).toEqual({ ...first.body, duplicate: true })
  expect((await app.when(first.body.runs[0], 'success')).output).toEqual({ n: 1 })
})

test('a form and a text are bodies too', async () => {
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const { body } = await app.post('/hooks/orders', 'n=1&m=2', form)
  const text = await app.post('/hooks/orders', 'n=1', { 'content-type': 'text/plain' })
  expect((await app.when(body.runs[0], 'success')).output).toEqual({ n: '1', m: '2' })
  expect((await app.when(text.body.runs[0], 'success')).output).toBe('n=1')
})

test.each([
  ['/hooks/nobody', {}, 404, 'NOT_FOUND'],
  ['/hooks/bank/pay', {}, 401, 'SIGNATURE_INVALID'],
  ['/hooks/bank/pay', { authorization: 'Bearer open sesam' }, 401, 'SIGNATURE_INVALID'],
  ['/hooks/odd', { 'webhook-id': 'x' }, 422, 'TEMPLATE_ERROR'],
  ['/hooks/orders', { 'webhook-id': 'y'.repeat(300) }, 422, 'EVENT_INVALID'],
])('a delivery to %s with %j is refused with %i %s', async (path, headers, status, code) => {
  const answer = await app.post(path, {}, headers)
  expect([answer.status, answer.body.code]).toEqual([status, code])
})

test('[S5] GET delivers nothing', async () => {
  const { status, headers } = await app.ask('/hooks/orders')
  expect([status, headers.get('allow')]).toEqual([405, 'POST'])
})

test('refused deliveries are listed with what was wrong, a page at a time', async () => {
  await app.post('/hooks/odd', { first: 1 }, { 'webhook-id': 'kept-1' })
  await app.post('/hooks/odd', { second: 2 }, { 'webhook-id': 'kept-2' })
  const all = await app.ask('/api/webhooks/dead-letters')
  const mine = all.body.items.filter(({ delivery }: { delivery: string }) => delivery.startsWith('kept-'))
  expect(mine).toMatchObject([
    { webhook: 'odd', delivery: 'kept-1', media: 'application/json', body: '{"first":1}', code: 'TEMPLATE_ERROR' },
    { webhook: 'odd', delivery: 'kept-2', body: '{"second":2}' },
  ])
  const first = await app.ask('/api/webhooks/dead-letters?limit=1')
  const second = await app.ask(
    `/api/webhooks/dead-letters?limit=1&cursor=${encodeURIComponent(first.body.next_cursor)}`,
  )
  expect([...first.body.items, ...second.body.items]).toEqual(all.body.items.slice(0, 2))
})

test('a refused delivery is replayed by its id, and an unknown one is not', async () => {
  const refused = await app.post('/hooks/odd', { m: 1 }, { 'webhook-id': 'z' })
  expect(refused.body.detail).toContain('kept as z')
  const again = await app.post('/api/webhooks/odd/replay', { delivery: 'z' })
  expect([again.status, again.body.code]).toEqual([422, 'TEMPLATE_ERROR'])
  const unknown = await app.post('/api/webhooks/odd/replay', { delivery: 'nobody' })
  expect([unknown.status, unknown.body.code]).toEqual([404, 'NOT_FOUND'])
})
