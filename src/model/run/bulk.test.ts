/** Commands to many runs: which orders are valid, which runs they apply to, and how outcomes are summed up. */
import { expect, test } from 'vitest'
import { type RunId, runId } from '#model/kernel/ids.ts'
import {
  BULK_ACTIONS,
  type BulkIntent,
  type BulkOutcome,
  bulkCommand,
  concerns,
  failedOf,
  fromJobJson,
  hasReceived,
  progressAfter,
  progressAtFirst,
  spokenBy,
} from './bulk.ts'
import { RUN_STATUSES } from './status.ts'

const INTENT: BulkIntent = { action: 'cancel', where: { status: 'waiting' }, ids: null, reason: null, by: 'ana' }
const ID = runId('0'.repeat(32))

test('an order has a filter, or a list of runs without duplicates', () => {
  expect(bulkCommand({ ...INTENT, where: { handler: 'greet' } })).toEqual({
    order: { action: 'cancel', where: { status: null, handler: 'greet', session: null }, reason: null, by: 'ana' },
    ids: null,
  })
  expect(bulkCommand({ ...INTENT, where: null, ids: [ID, ID], reason: 'late' })).toEqual({
    order: { action: 'cancel', where: null, reason: 'late', by: 'ana' },
    ids: [ID],
  })
})

test.each<[string, Partial<BulkIntent>]>([
  ['action is "delete"', { action: 'delete' }],
  ['either where or ids', { ids: [ID] }],
  ['either where or ids', { where: null }],
  ['where is empty', { where: {} }],
  ['where has an unknown term state', { where: { state: 'waiting' } }],
  ['where.handler must be a text', { where: { handler: 7 } }],
  ['which is not a status', { where: { status: 'session' } }],
  ['expected the id of a session', { where: { session: 'mine' } }],
  ['"7" is not a full run id', { where: null, ids: ['7'] }],
  ['expected 1 to 1000', { where: null, ids: [] }],
  ['expected 1 to 1000', { where: null, ids: Array.from({ length: 1_001 }, () => ID) }],
  ['reason must have 1 to 1000', { reason: '' }],
])('an order is refused: %s', (detail, intent) => {
  expect(bulkCommand({ ...INTENT, ...intent })).toMatchObject({ kind: 'refused', code: 'INPUT_INVALID' })
  expect(JSON.stringify(bulkCommand({ ...INTENT, ...intent }))).toContain(JSON.stringify(detail).slice(1, -1))
})

test('an order applies to the runs whose status it can change', () => {
  const concerned = BULK_ACTIONS.map((action) => [
    action,
    RUN_STATUSES.filter((status) => status !== 'session' && concerns(action, status)),
  ])
  expect(Object.fromEntries(concerned)).toEqual({
    cancel: ['queued', 'running', 'waiting', 'paused'],
    retry: ['failed', 'cancelled', 'expired', 'quarantined'],
    pause: ['queued', 'running', 'waiting'],
    resume: ['paused'],
  })
})

test('bulk-1: done and failed add up to the total, and each kind of failure names its first five runs', () => {
  const run = (n: number): RunId => runId(String(n).padStart(32, '0'))
  const outcomes = Array.from({ length: 8 }, (_, n): BulkOutcome => {
    const failure = n === 0 ? null : { code: 'RUN_ENDED' as const, detail: `it ended ${n}` }
    return { run: run(n), failure }
  })
  const first = progressAfter(progressAtFirst(null), outcomes, false)
  const last = progressAfter(first, [{ run: run(9), failure: null }], true)
  expect(first).toMatchObject({ total: 8, done: 1, isWhole: false })
  expect(last).toMatchObject({ total: 9, done: 2, isWhole: true })
  expect(last.failures).toEqual([{ code: 'RUN_ENDED', count: 7, detail: 'it ended 1', runs: [1, 2, 3, 4, 5].map(run) }])
  expect(last.done + failedOf(last)).toBe(last.total)
})

test('the total of an order with named runs is known from the beginning', () => {
  const before = progressAtFirst([ID])
  expect(before).toMatchObject({ total: 1, isWhole: true })
  expect(progressAfter(before, [{ run: ID, failure: null }], true)).toMatchObject({ total: 1, done: 1 })
})

test('bulk-2: a run has received the command of a job if its facts name that job, and not if they name another', () => {
  const by = spokenBy('ana', ID)
  const facts = [{ type: 'run.paused', at: 1, by, reason: null }] as const
  expect(hasReceived(facts, 'pause', by)).toBe(true)
  expect(hasReceived(facts, 'resume', by)).toBe(false)
  expect(hasReceived(facts, 'pause', spokenBy('ana', runId('1'.repeat(32))))).toBe(false)
})

test('a value that is not a stored job is read as null', () => {
  expect([null, 'job', {}, { progress: 1 }].map(fromJobJson)).toEqual([null, null, null, null])
})
