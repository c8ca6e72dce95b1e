/** Counts put together: over handlers, and whether all runs of a status were looked at. */
import { expect, test } from 'vitest'
import { newestCounts, type RunCount, sumsOf } from './newest-counts.ts'

const PARKED: readonly RunCount[] = [
  { handler: 'mail', status: 'waiting', count: 3 },
  { handler: 'post', status: 'waiting', count: 2 },
  { handler: 'mail', status: 'failed', count: 4 },
]
const HELD: readonly RunCount[] = [
  { handler: 'mail', status: 'running', count: 9 },
  { handler: 'post', status: 'waiting', count: 1 },
]

test('counts of a status are summed over handlers, or are those of one', () => {
  const { counts } = newestCounts(PARKED, HELD, 100)
  expect([...sumsOf(counts)]).toEqual([
    ['waiting', 6],
    ['failed', 4],
    ['running', 9],
  ])
  expect([...sumsOf(counts, 'post')]).toEqual([['waiting', 3]])
})

test('a status of which as many were looked at as may be has more; those that are held are all counted', () => {
  expect([...newestCounts(PARKED, HELD, 5).more]).toEqual(['waiting'])
  expect([...newestCounts(PARKED, HELD, 6).more]).toEqual([])
})
