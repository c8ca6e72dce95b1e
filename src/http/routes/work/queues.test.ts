/** Queues over HTTP, on a real engine. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { until } from '#test/support/until.ts'

let app: HttpApp
beforeEach(async () => {
  app = await openApp({
    name: 'lines',
    queues: [
      { name: 'orders', maxAttempts: 1 },
      { name: 'full', maxLength: 1 },
    ],
    functions: [
      fn('handle', { source: { queue: 'orders' } }, ({ input }) => {
        throw new Error(JSON.stringify(input))
      }),
    ],
  })
})
afterEach(() => app.close())

test('[I1] a message is enqueued over HTTP, becomes dead after its last attempt, and can be revived', async () => {
  const first = await app.post('/api/queues/orders', { data: { n: 1 }, id: 'one' })
  expect([first.status, first.body]).toMatchObject([202, { id: 'one', duplicate: false }])
  expect((await app.post('/api/queues/orders', { data: { n: 1 }, id: 'one' })).body).toMatchObject({ duplicate: true })
  await until(
    () => app.ask('/api/queues/orders'),
    ({ body }) => body.dead === 1,
    { what: 'the message is given up' },
  )
  expect((await app.post('/api/queues/orders/revive', {})).body).toEqual({ revived: 1 })
  await until(
    () => app.ask('/api/runs?handler=handle&status=failed'),
    ({ body }) => body.items.length === 2,
    { what: 'it was tried again' },
  )
})

test('[M4] a full queue answers 429, and an unknown queue 404', async () => {
  expect((await app.post('/api/queues/full', { data: 1 })).status).toBe(202)
  const refused = await app.post('/api/queues/full', { data: 2 })
  expect([refused.status, refused.body.code]).toEqual([429, 'QUEUE_FULL'])
  expect((await app.post('/api/queues/none', { data: 1 })).body.code).toBe('NOT_FOUND')
  expect((await app.ask('/api/queues')).body.items).toMatchObject([
    { name: 'orders', handler: 'handle', on_full: 'reject' },
    { name: 'full', handler: null, length: 1, max_length: 1, in_flight: 0 },
  ])
})
