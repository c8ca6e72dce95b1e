/** Webhook endpoints over HTTP: their state, their deliveries with every try, and redelivery. */
import { afterEach, expect, test } from 'vitest'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { until } from '#test/support/until.ts'

let app: HttpApp
afterEach(() => app.close())

const SECRET = `whsec_${Buffer.from('a secret of 24 bytes....').toString('base64')}`
/** A loopback address is refused by the network guard: each try fails at once, without a network. */
const endpoints = [{ name: 'books', url: 'http://127.0.0.1:9/in?key=hidden', events: ['paid'], secret: SECRET }]
const AT = '/api/webhook-endpoints'

const open = async (): Promise<void> => {
  app = await openApp({ name: 'shop', events: { paid: null }, endpoints })
}

test('an endpoint is listed as it was declared, without its secret or the path of its address', async () => {
  await open()
  const { status, body, text } = await app.ask(AT)
  expect(status).toBe(200)
  expect(body.items).toEqual([
    {
      name: 'books',
      handler: 'notify-webhook-books',
      url: 'http://127.0.0.1:9/…',
      events: ['paid'],
      is_signed: true,
      failing_since: null,
      off: null,
    },
  ])
  expect(text).not.toMatch(/hidden|whsec/)
})

test('a delivery is shown with its tries, and is not redelivered while it is under way', async () => {
  await open()
  const run = await app.started('paid')
  const { body } = await until(
    () => app.ask(`${AT}/books/deliveries`),
    (answer) => answer.body.items[0]?.tries.length === 1,
    { what: 'a try has failed' },
  )
  expect(body.items[0]).toMatchObject({ id: run, event: 1, tries: [{ kind: 'failed' }] })
  expect((await app.ask(AT)).body.items[0].failing_since).toMatch(/Z$/)
  const refused = await app.post(`${AT}/books/deliveries/${run}/redeliver`, {})
  expect([refused.status, refused.body.code]).toEqual([409, 'RUN_NOT_FAILED'])
})

test('a delivery that ended without success can be redelivered', async () => {
  await open()
  const run = await app.started('paid')
  await app.post(`/api/runs/${run}/cancel`, {})
  await app.when(run, 'cancelled')
  const { status, body } = await app.post(`${AT}/books/deliveries/${run}/redeliver`, {})
  expect([status, body.id]).toEqual([202, run])
})

test('an unknown endpoint, or a delivery to another one, is not found', async () => {
  await open()
  expect((await app.ask(`${AT}/nobody/deliveries`)).body.code).toBe('NOT_FOUND')
  const { body } = await app.post(`${AT}/books/deliveries/run_${'0'.repeat(32)}/redeliver`, {})
  expect(body.code).toBe('NOT_FOUND')
})
