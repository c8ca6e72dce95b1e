/** Pools, circuit breakers and the stop of all workers over HTTP, on a real engine. */
import { afterEach, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'

let app: HttpApp
afterEach(() => app.close())

test('[N4] pools are listed with their labels, their capacity and its use', async () => {
  const pools = [{ name: 'mail', labels: { region: 'eu' }, slots: 7, min: 1, max: 3 }]
  app = await openApp({ name: 'pools', pools, functions: [fn('send', { pool: 'mail' }, () => 'sent')] }, undefined, {
    pool: 'mail',
  })
  expect((await app.ask('/api/pools')).body).toEqual({
    items: [
      {
        ...{ name: 'mail', labels: { region: 'eu' }, modules: null, min: 1, max: 3 },
        ...{ workers: 1, taking: 1, capacity: 7, used: 0, queued: 0, more: false, oldest_at: null },
      },
      {
        ...{ name: null, labels: {}, modules: null, min: 0, max: null },
        ...{ workers: 0, taking: 0, capacity: 0, used: 0, queued: 0, more: false, oldest_at: null },
      },
    ],
    next_cursor: null,
  })
})

test('[I7] circuit breakers are listed before and after they open, and can be closed by an operator', async () => {
  const circuit = { key: 'the bank/eu', window: 2, minCalls: 2, openFor: '10m', whenOpen: 'fail' } as const
  const pay = fn('pay', { circuit, retry: { maxAttempts: 1 } }, ({ step }) =>
    step.run('charge', () => Promise.reject(new Error('no answer')), { retry: { maxAttempts: 1 } }),
  )
  app = await openApp({ name: 'bank', functions: [pay] })
  const listed = async () => (await app.ask('/api/circuits')).body.items
  const closed = { key: 'the bank/eu', status: 'closed', until: null, openings: 0, handlers: ['pay'] }
  expect(await listed()).toEqual([closed])
  for (let i = 0; i < 2; i++)
    await app.when((await app.post('/api/runs', { name: 'pay', input: {} })).body.id, 'failed')
  expect(await listed()).toMatchObject([{ status: 'open', openings: 1, until: expect.any(String) }])
  const answer = await app.post(`/api/circuits/${encodeURIComponent('the bank/eu')}/reset`, {})
  expect([answer.status, answer.body]).toEqual([200, { ...closed, openings: 1 }])
  expect(await listed()).toEqual([{ ...closed, openings: 1 }])
  const [told] = (await app.ask('/api/events?type=trihand.circuit.closed')).body.items
  expect(told).toMatchObject({ subject: 'the bank/eu', data: { by: 'local' } })
  expect((await app.post('/api/circuits/nobody/reset', {})).body).toMatchObject({ code: 'NOT_FOUND' })
})

test('[I6] all work is stopped and resumed: recorded, shown, and given as the reason of every waiting run', async () => {
  app = await openApp({ name: 'work', functions: [fn('work', {}, () => 'done')] })
  const free = { is_stopped: false, by: null, reason: null, at: null }
  expect((await app.ask('/api/stop')).body).toEqual(free)
  const stopped = { is_stopped: true, by: 'local', reason: 'the bank called', at: expect.any(String) }
  expect(await app.post('/api/stop', { reason: 'the bank called' })).toMatchObject({ status: 200, body: stopped })
  // A second stop does not replace the first.
  expect((await app.post('/api/stop', {})).body).toEqual(stopped)
  expect((await app.ask('/api/workers')).body.items).toMatchObject([{ status: 'stopped' }])
  const run = (await app.post('/api/runs', { name: 'work', input: {} })).body.id
  expect((await app.ask(`/api/runs/${run}/why`)).body.text).toBe(
    'It waits for the stop to be lifted: local stopped everything (the bank called).',
  )
  expect((await app.post('/api/stop/lift', {})).body).toEqual(free)
  expect((await app.when(run, 'success')).status).toBe('success')
  expect((await app.post('/api/stop/lift', {})).body).toEqual(free)
  const orders = (await app.ask('/api/events?type=trihand.worker.stop_ordered')).body.items
  expect(orders).toMatchObject([{ subject: '*', data: { by: 'local', reason: 'the bank called' } }])
})

test('a reason that is not a text, or cannot be shown, is refused', async () => {
  app = await openApp({ name: 'empty' })
  for (const reason of [7, '', 'a\u0000b', 'x'.repeat(501)])
    expect((await app.post('/api/stop', { reason })).body).toMatchObject({ code: 'INPUT_INVALID' })
  expect((await app.ask('/api/stop')).body.is_stopped).toBe(false)
})
