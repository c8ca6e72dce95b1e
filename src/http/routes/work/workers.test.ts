/** Workers over HTTP, on a real engine. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { until } from '#test/support/until.ts'

let app: HttpApp
beforeEach(async () => {
  app = await openApp({ name: 'empty' })
})
afterEach(() => app.close())

test('[N4] the worker of this process is listed, and found by id, last digits or name', async () => {
  const { body } = await app.ask('/api/workers')
  expect(body).toMatchObject({ items: [{ status: 'working', pool: null, labels: {}, leases: 0 }], next_cursor: null })
  const { id, name } = body.items[0]
  for (const text of [id, id.slice(-8), name])
    expect((await app.ask(`/api/workers/${text}`)).body).toMatchObject({ id, runs: [] })
})

test('an unknown worker, a bad cursor and an unknown parameter are refused', async () => {
  expect((await app.ask('/api/workers/nobody')).body).toMatchObject({ code: 'NOT_FOUND' })
  expect((await app.ask('/api/workers?cursor=x')).body).toMatchObject({ code: 'CURSOR_INVALID' })
  expect((await app.ask('/api/workers?pool=x')).body).toMatchObject({ code: 'QUERY_UNKNOWN' })
  expect((await app.post('/api/workers/nobody/drain', {})).body).toMatchObject({ code: 'NOT_FOUND' })
})

test('[I6] a worker is ordered to drain, and the order is recorded as an event', async () => {
  const { id } = (await app.ask('/api/workers')).body.items[0]
  expect((await app.post(`/api/workers/${id}/drain`, {})).status).toBe(202)
  await until(
    () => app.ask('/api/workers'),
    ({ body }) => body.items.length === 0,
    { what: 'the worker has left' },
  )
  const { body } = await app.ask('/api/events?type=trihand.worker.drain_ordered')
  expect(body.items).toMatchObject([{ subject: id, data: { by: 'local' } }])
})

test('[I6] worker-6: a paused worker is shown as paused and takes no runs until it is resumed', async () => {
  await app.close()
  app = await openApp({ name: 'work', functions: [fn('work', {}, () => 'done')] })
  const { id } = (await app.ask('/api/workers')).body.items[0]
  const paused = await app.post(`/api/workers/${id}/pause`, {})
  expect([paused.status, paused.body.status]).toEqual([202, 'paused'])
  expect((await app.ask(`/api/workers/${id}`)).body).toMatchObject({ status: 'paused', runs: [] })
  const run = (await app.post('/api/runs', { name: 'work', input: {} })).body.id
  expect((await app.ask(`/api/runs/${run}`)).body.status).toBe('queued')
  expect((await app.ask('/api/pools')).body.items).toMatchObject([
    { name: null, workers: 1, taking: 0, capacity: 0, queued: 1, more: false, oldest_at: expect.any(String) },
  ])
  expect((await app.post(`/api/workers/${id}/resume`, {})).body.status).toBe('working')
  expect((await app.when(run, 'success')).status).toBe('success')
})
