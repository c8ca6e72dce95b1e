/** Merging of counts: sums over handlers, and which statuses may have more runs than were counted. */
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

test('counts of a status are summed over all handlers, or belong to one handler', () => {
  const { counts } = newestCounts(PARKED, HELD, 100)
  expect([...sumsOf(counts)]).toEqual([
    ['waiting', 6],
    ['failed', 4],
    ['running', 9],
  ])
  expect([...sumsOf(counts, 'post')]).toEqual([['waiting', 3]])
})

test('a status has more runs if the limit was reached among its parked runs; leased runs are all counted', () => {
  expect([...newestCounts(PARKED, HELD, 5).more]).toEqual(['waiting'])
  expect([...newestCounts(PARKED, HELD, 6).more]).toEqual([])
})
