/** Which checks make a process unready, one by one. */
import { expect, test } from 'vitest'
import { readinessOf, type Seen } from './readiness.ts'

const FINE: Seen = {
  readTrouble: null,
  writeTrouble: null,
  sinceWriteMs: 100,
  workers: { living: 1, taking: 1 },
  isStopped: false,
  overdue: null,
  unhandled: null,
  dispatcherTrouble: null,
  loopDelayMs: 5,
}

test('[I5] a process that reads, writes and takes what is due is ready', () => {
  const { isReady, checks, reasons } = readinessOf(FINE)
  expect([isReady, new Set(Object.values(checks)), reasons]).toEqual([true, new Set(['ok']), []])
})

test.each<[string, string, Partial<Seen>]>([
  ['ledger', 'LEDGER_UNAVAILABLE', { readTrouble: 'LEDGER_UNAVAILABLE' }],
  ['writes', 'STORAGE_FULL', { writeTrouble: { code: 'STORAGE_FULL', detail: 'disk is full' } }],
  ['writes', 'LEDGER_MISSING', { writeTrouble: { code: 'LEDGER_MISSING', detail: 'x.db was deleted' } }],
  ['writes', 'LEDGER_UNAVAILABLE', { sinceWriteMs: 10_000 }],
  ['workers', 'NO_WORKER', { workers: { living: 0, taking: 0 } }],
  ['workers', 'NO_WORKER', { workers: { living: 2, taking: 0 } }],
  ['progress', 'NO_PROGRESS', { overdue: { handler: 'mail', ms: 30_000 } }],
  ['dispatcher', 'DISPATCHER_DOWN', { dispatcherTrouble: 'connection refused' }],
  ['loop', 'LOOP_BLOCKED', { loopDelayMs: 1_000 }],
])('readiness-1: %s is %s during the failure and ok afterwards', (check, code, change) => {
  const { isReady, checks, reasons } = readinessOf({ ...FINE, ...change })
  expect([isReady, checks[check], reasons.length]).toEqual([false, code, 1])
  expect(readinessOf(FINE).isReady).toBe(true)
})

test('[N5] readiness-2: runs without a handler are reported, and the process stays ready (13.2.2)', () => {
  const { isReady, checks, reasons } = readinessOf({
    ...FINE,
    unhandled: { count: 3, reason: 'a worker that has it' },
  })
  expect([isReady, checks['handlers'], reasons]).toEqual([
    true,
    'NO_HANDLER',
    ['3 due runs wait, the first for a worker that has it'],
  ])
})

test('after a person stopped everything no progress is expected', () => {
  const seen = { ...FINE, isStopped: true, workers: { living: 1, taking: 0 }, overdue: { handler: 'mail', ms: 99_000 } }
  expect(readinessOf(seen).isReady).toBe(true)
})
