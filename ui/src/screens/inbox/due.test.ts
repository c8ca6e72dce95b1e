/** When a deadline counts as soon or late. */
import { expect, test } from 'vitest'
import { urgencyOf } from './due.tsx'

const at = (minutes: number): string => new Date(minutes * 60_000).toISOString()

test.each([
  [0, 'calm'],
  [75, 'calm'],
  [76, 'soon'],
  [99, 'soon'],
  [100, 'late'],
  [500, 'late'],
])('[C11] of a hundred minutes, after %d it is %s', (now, urgency) => {
  expect(urgencyOf(at(0), at(100), now * 60_000)).toBe(urgency)
})
