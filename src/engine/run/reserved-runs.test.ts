/** The queue of runs that wait for a slot with their lease: order, fairness and bounds, without a worker. */
import { expect, test } from 'vitest'
import { type RunId, runId, type WorkerId } from '#model/kernel/ids.ts'
import type { NewRun } from './new-run.ts'
import { ReservedRuns } from './reserved-runs.ts'
import type { RunRow } from './run-row.ts'

const idOf = (n: number): RunId => runId(String(n).padStart(32, '0'))
const lineOf = (count: number, isAlone = true): ReservedRuns => {
  const reservedRuns = new ReservedRuns(isAlone)
  for (let n = 1; n <= count; n++)
    reservedRuns.add({ id: idOf(n) } as NewRun, { id: idOf(n), lease: 'w' as WorkerId } as RunRow)
  return reservedRuns
}

test('reserved runs begin in the order of their creation, and leave the queue', () => {
  const reservedRuns = lineOf(3)
  const begun = Array.from({ length: 4 }, () => reservedRuns.next(false)?.record.id ?? null)
  expect(begun).toEqual([idOf(1), idOf(2), idOf(3), null])
  expect([reservedRuns.size, reservedRuns.has(idOf(1)), reservedRuns.needs('w' as WorkerId)]).toEqual([0, false, false])
})

test('reserved-runs-1: while other work is due, every second free slot is left to it', () => {
  const reservedRuns = lineOf(10)
  const turns = Array.from({ length: 6 }, () => reservedRuns.next(true) !== null)
  expect(turns).toEqual([false, true, false, true, false, true])
})

test('reserved-runs-2: a waiting run that others wrote to is marked as changed, and a run that does not wait here is unknown', () => {
  const reservedRuns = lineOf(2)
  expect([reservedRuns.change(idOf(2)), reservedRuns.change(idOf(9))]).toEqual([true, false])
  expect([reservedRuns.next(false)?.isChanged, reservedRuns.next(false)?.isChanged]).toEqual([false, true])
})

test('reserved-runs-3: only a worker that is alone creates runs ahead of free slots, up to a bound', () => {
  expect(lineOf(0, false).room).toBe(0)
  const [none, some] = [lineOf(0), lineOf(3)]
  expect(none.room - some.room).toBe(3)
})
