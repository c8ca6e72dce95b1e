/** Schedules and handlers over HTTP, on a real engine. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { until } from '#test/support/until.ts'

let app: HttpApp
beforeEach(async () => {
  app = await openApp({
    name: 'clock',
    events: { 'order.placed': null },
    functions: [
      fn('work', {}, ({ schedule }) => schedule?.slot ?? 0),
      fn('hear', { trigger: 'order.placed', whilePaused: 'hold' }, () => null),
      fn('plain', {}, () => null),
    ],
    schedules: [
      { name: 'nightly', cron: '0 3 * * *', tz: 'Europe/Berlin', function: 'work' },
      { name: 'often', every: '1h', phase: '90s', function: 'work' },
    ],
  })
})
afterEach(() => app.close())

test('[H1] schedules are listed with their next slot, and shown by name', async () => {
  const { body } = await app.ask('/api/schedules')
  expect(body.items).toMatchObject([
    { name: 'nightly', timing: '0 3 * * *', tz: 'Europe/Berlin', status: 'live', fired: 0, last: null },
    { name: 'often', timing: 'every 3600s + 90s', status: 'live' },
  ])
  expect(body.items[0].next_at).toMatch(/T0[12]:00:00\.000Z$/)
  expect((await app.ask('/api/schedules/often')).body).toMatchObject({ name: 'often', target: { name: 'work' } })
})

test('a schedule can be paused, run now, backfilled and resumed', async () => {
  expect((await app.post('/api/schedules/often/pause', {})).body).toMatchObject({
    status: 'paused',
    paused_by: 'local',
  })
  for (const _ of [1, 2]) await app.post('/api/schedules/often/run', { id: 'once' })
  await until(
    () => app.ask('/api/schedules/often'),
    ({ body }) => body.last !== null,
    { what: 'the run has ended' },
  )
  expect((await app.ask('/api/runs?handler=work')).body.items).toHaveLength(1)
  expect((await app.post('/api/schedules/often/resume', {})).body).toMatchObject({ status: 'live', paused_by: null })
  const span = { id: 'fill', from: '2026-01-01T00:00:00Z', to: '2026-01-01T02:59:00Z' }
  expect((await app.post('/api/schedules/often/backfill', span)).status).toBe(200)
  await until(
    () => app.ask('/api/runs?handler=work&status=success'),
    ({ body }) => body.items.length === 4,
    { what: 'three past slots ran' },
  )
})

test('a schedule shows its next five slots, the next clock change and its policies', async () => {
  const { body } = await app.ask('/api/schedules/nightly')
  expect(body.next).toHaveLength(5)
  expect(body.next[0]).toBe(body.next_at)
  expect(Math.abs(body.clock_change.minutes)).toBe(60)
  expect(body.policies).toMatchObject({ overlap: 'skip', missed: 'run_once', jitter: '0ms', max_runs: null })
  expect((await app.ask('/api/schedules/often')).body.clock_change).toBe(null)
})

test('a pause is shown with its reason, and slots are listed with their outcome', async () => {
  const paused = await app.post('/api/schedules/often/pause', { reason: 'the warehouse moves' })
  expect(paused.body).toMatchObject({ status: 'paused', paused_reason: 'the warehouse moves' })
  await app.post('/api/schedules/often/run', {})
  const { body } = await until(
    () => app.ask('/api/schedules/often/slots?limit=20'),
    (answer) => answer.body.items[0]?.outcome === 'success',
    { what: 'the run has ended' },
  )
  expect(body.items).toMatchObject([{ origin: 'now', count: 1, reason: null }])
  expect((await app.ask(`/api/runs/${body.items[0].run_id}`)).status).toBe(200)
})

test('a backfill can be counted first: nothing is started', async () => {
  const span = { from: '2026-01-01T00:00:00Z', to: '2026-01-01T02:59:00Z' }
  const { body } = await app.post('/api/schedules/often/backfill?dry_run=true', span)
  expect(body).toEqual({ count: 3, first: '2026-01-01T00:01:30.000Z', last: '2026-01-01T02:01:30.000Z' })
  expect((await app.ask('/api/runs?handler=work')).body.items).toEqual([])
  const tooMany = { from: '2020-01-01T00:00:00Z', to: '2026-01-01T00:00:00Z' }
  expect((await app.post('/api/schedules/often/backfill?dry_run=true', tooMany)).body.code).toBe('RUN_BACKLOG_FULL')
})

test('an unknown schedule or handler, an instant without an offset and a reversed span are refused', async () => {
  expect((await app.ask('/api/schedules/nobody')).body).toMatchObject({ code: 'NOT_FOUND' })
  expect((await app.post('/api/schedules/nobody/pause', {})).body).toMatchObject({ code: 'NOT_FOUND' })
  const local = { from: '2026-01-01T00:00:00', to: '2026-01-02T00:00:00Z' }
  expect((await app.post('/api/schedules/often/backfill', local)).body).toMatchObject({ code: 'INSTANT_WITHOUT_ZONE' })
  const backwards = { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }
  expect((await app.post('/api/schedules/often/backfill', backwards)).body).toMatchObject({ code: 'INPUT_INVALID' })
  expect((await app.post('/api/handlers/plain/pause', {})).body).toMatchObject({ code: 'NOT_FOUND' })
})

test('a handler that holds events while it is paused starts their runs once it is resumed', async () => {
  expect((await app.post('/api/handlers/hear/pause', {})).status).toBe(200)
  expect((await app.post('/api/events', { type: 'order.placed', data: {} })).status).toBeLessThan(300)
  expect((await app.ask('/api/runs?handler=hear')).body.items).toEqual([])
  await app.post('/api/handlers/hear/resume', {})
  await until(
    () => app.ask('/api/runs?handler=hear&status=success'),
    ({ body }) => body.items.length === 1,
    { what: 'the held event has its run' },
  )
})
