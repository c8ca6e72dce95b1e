/** When stored responses are forgotten. What forgetting means is tested in keyed.test.ts. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { forgetOldRequests } from './housekeeping.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const HOUR = 3_600_000

test('old requests are forgotten every hour, also after a failure, until the server stops', async () => {
  const asked: number[] = []
  const requests = {
    forgetOlderThan: async (ms: number): Promise<number> => {
      asked.push(ms)
      throw new Error('the store is away')
    },
  }
  const ending = new AbortController()
  forgetOldRequests(requests, ending.signal, 5)
  await vi.advanceTimersByTimeAsync(HOUR - 1)
  expect(asked).toEqual([])
  await vi.advanceTimersByTimeAsync(HOUR + 1)
  expect(asked).toEqual([5, 5])
  ending.abort()
  await vi.advanceTimersByTimeAsync(9 * HOUR)
  expect(asked).toEqual([5, 5])
})

test('requests are forgotten after thirty days by default', async () => {
  const asked: number[] = []
  forgetOldRequests({ forgetOlderThan: async (ms) => asked.push(ms) }, new AbortController().signal)
  await vi.advanceTimersByTimeAsync(HOUR)
  expect(asked).toEqual([30 * 24 * HOUR])
})
