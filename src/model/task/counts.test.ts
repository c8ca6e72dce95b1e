/** Counts of open tasks by status, and whether there may be more. */
import { expect, test } from 'vitest'
import { taskCounts } from './counts.ts'

const FOUND = [
  { status: 'pending', count: 3, looked: 4 },
  { status: 'in_review', count: 2, looked: 2 },
  { status: 'revision_requested', count: 0, looked: 0 },
] as const

test('statuses without a task are left out', () => {
  expect([...taskCounts(FOUND, 9).counts]).toEqual([
    ['pending', 3],
    ['in_review', 2],
  ])
})

test('a status may have more tasks if the limit of places was looked at, however few tasks were found in them', () => {
  expect([...taskCounts(FOUND, 5).more]).toEqual([])
  expect([...taskCounts(FOUND, 4).more]).toEqual(['pending'])
  expect([...taskCounts(FOUND, 2).more]).toEqual(['pending', 'in_review'])
})
