/** The line of runs that wait for a slot with their lease: order, fairness and bounds, without a worker. */
import { expect, test } from 'vitest'
import { type RunId, runId, type WorkerId } from '#model/kernel/ids.ts'
import type { NewRun } from './new-run.ts'
import { Newborns } from './newborns.ts'
import type { ResidentRecord } from './resident-record.ts'

const idOf = (n: number): RunId => runId(String(n).padStart(32, '0'))
const lineOf = (count: number, isAlone = true): Newborns => {
  const newborns = new Newborns(isAlone)
  for (let n = 1; n <= count; n++)
    newborns.add({ id: idOf(n) } as NewRun, { id: idOf(n), lease: 'w' as WorkerId } as ResidentRecord)
  return newborns
}

test('newborns begin in the order of their births, and leave the line', () => {
  const newborns = lineOf(3)
  const begun = Array.from({ length: 4 }, () => newborns.next(false)?.record.id ?? null)
  expect(begun).toEqual([idOf(1), idOf(2), idOf(3), null])
  expect([newborns.size, newborns.has(idOf(1)), newborns.needs('w' as WorkerId)]).toEqual([0, false, false])
})

test('newborns-1: while other work is due, every second free slot is left to it', () => {
  const newborns = lineOf(10)
  const turns = Array.from({ length: 6 }, () => newborns.next(true) !== null)
  expect(turns).toEqual([false, true, false, true, false, true])
})

test('newborns-2: a run that others wrote to is marked, and one that does not wait here is not known', () => {
  const newborns = lineOf(2)
  expect([newborns.change(idOf(2)), newborns.change(idOf(9))]).toEqual([true, false])
  expect([newborns.next(false)?.isChanged, newborns.next(false)?.isChanged]).toEqual([false, true])
})

test('newborns-3: only a worker that is alone lets runs be born ahead, and so many', () => {
  expect(lineOf(0, false).room).toBe(0)
  const [none, some] = [lineOf(0), lineOf(3)]
  expect(none.room - some.room).toBe(3)
})
