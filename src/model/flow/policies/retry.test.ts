/** The arithmetic of backoff. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { policyCases } from '#test/support/stories/policy-cases.ts'
import { DEFAULT_RETRY, retryDelayMs } from './retry.ts'

test.each([
  [1, 0, 0],
  [1, 0.5, 500],
  [1, 0.9999, 999],
  [2, 0.5, 1_000],
  [3, 0.5, 2_000],
  [9, 0.5, 128_000],
  [10, 0.5, 150_000],
  [2_000, 0.5, 150_000],
])('after attempt %i a roll of %d waits %i ms by default', (attempt, roll, delayMs) =>
  expect(retryDelayMs(DEFAULT_RETRY, attempt, roll)).toBe(delayMs),
)

test('by default there are three retries, from one second to five minutes', () =>
  expect(DEFAULT_RETRY).toEqual({ maxAttempts: 4, baseMs: 1_000, factor: 2, maxMs: 300_000 }))

test('[V9] a delay is a whole number between zero and the bound, and grows with the roll', () => {
  const policy = fc.record({
    maxAttempts: fc.integer({ min: 1, max: 20 }),
    baseMs: fc.nat(100_000),
    factor: fc.double({ min: 1, max: 10, noNaN: true }),
    maxMs: fc.nat(3_600_000),
  })
  const roll = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
  fc.assert(
    fc.property(policy, fc.integer({ min: 1, max: 5_000 }), roll, roll, (given, attempt, a, b) => {
      const [smaller, larger] = [Math.min(a, b), Math.max(a, b)].map((rolled) => retryDelayMs(given, attempt, rolled))
      expect(Number.isSafeInteger(larger)).toBe(true)
      expect(smaller).toBeGreaterThanOrEqual(0)
      expect(smaller).toBeLessThanOrEqual(larger ?? 0)
      expect(larger).toBeLessThanOrEqual(given.maxMs)
      if (attempt === 1) expect(larger).toBeLessThanOrEqual(given.baseMs)
    }),
    policyCases(13),
  )
})
