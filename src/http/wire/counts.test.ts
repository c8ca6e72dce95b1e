/** Counts on the wire: exact numbers, and those that are lower bounds. */
import { expect, test } from 'vitest'
import { newestCounts } from '#model/run/newest-counts.ts'
import { taskCounts } from '#model/task/counts.ts'
import { countsDocument, countTexts, handlerCounts, taskCountsDocument } from './counts.ts'

const MANY = newestCounts(
  [
    { handler: 'mail', status: 'waiting', count: 4 },
    { handler: 'post', status: 'waiting', count: 1 },
    { handler: 'mail', status: 'expired', count: 2 },
  ],
  [{ handler: 'mail', status: 'running', count: 3 }],
  5,
)

test('counts list every status, and mark those with more runs than were counted', () => {
  expect(countsDocument(MANY)).toMatchObject({ waiting: 5, running: 3, expired: 2, success: 0, more: ['waiting'] })
  expect(countsDocument(MANY)).not.toHaveProperty('session')
})

test('a number that is only a lower bound is followed by a plus', () => {
  expect(countTexts(MANY)).toEqual([
    { status: 'running', count: '3' },
    { status: 'waiting', count: '5+' },
    { status: 'expired', count: '2' },
  ])
})

test('[A3] the counts of a handler are lower bounds if not all runs were counted', () => {
  expect(handlerCounts(MANY, 'mail')).toEqual({ running: 3, waiting: 4, failed: 2, more: ['waiting'] })
  expect(handlerCounts(MANY, 'nobody')).toEqual({ running: 0, waiting: 0, failed: 0, more: ['waiting'] })
})

test('[C2] counts of open tasks list every status, and mark those with more tasks than were counted', () => {
  const found = taskCounts([{ status: 'pending', count: 5, looked: 6 }], 6)
  expect(taskCountsDocument(found)).toEqual({ pending: 5, in_review: 0, revision_requested: 0, more: ['pending'] })
})
