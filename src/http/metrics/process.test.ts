/** How the delay of an event loop is derived from its histogram. */
import { expect, test } from 'vitest'
import { delayOf } from './process.ts'

const NS = 1e6
/** So many turns on time, and then one that was this late. */
const turns = (inTime: number, lateMs: number) => ({
  count: inTime + 1,
  max: (lateMs + 20) * NS,
  percentile: (percent: number) => ((inTime + 1) * (percent / 100) > inTime ? lateMs + 20 : 21) * NS,
})

test('[I5] one late turn at the start of a process is not a blocked event loop; a loop whose turns are all late is (13.2.6)', () => {
  expect(delayOf(turns(0, 3_000)).p99Ms).toBe(0)
  expect(delayOf(turns(20, 3_000))).toEqual({ p50Ms: 1, p99Ms: 1, maxMs: 3_000 })
  expect(delayOf({ ...turns(9, 1_500), percentile: () => 1_520 * NS }).p99Ms).toBe(1_500)
  expect(delayOf(turns(99, 1_500)).p99Ms).toBe(1)
})
