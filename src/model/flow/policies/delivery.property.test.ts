/** The pauses between delivery attempts: never too short, never endless. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { policyCases } from '#test/support/stories/policy-cases.ts'
import { pauseAfter } from './delivery.ts'

const HOUR = 3_600_000
const MAX_TRIES = 10
const roll = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

test('each pause is within a fifth of its nominal length, and longer than the one before', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: MAX_TRIES - 1 }), roll, (tries, chance) => {
      const middle = pauseAfter(tries, 0.5) ?? 0
      const pause = pauseAfter(tries, chance) ?? 0
      expect(Math.abs(pause - middle)).toBeLessThanOrEqual(middle * 0.2 + 1)
      if (tries > 1) expect(middle).toBeGreaterThan(pauseAfter(tries - 1, 0.5) ?? 0)
    }),
    policyCases(83),
  )
})

test('there are ten attempts and then no more, all of them within four days', () => {
  expect(pauseAfter(MAX_TRIES - 1, 0.5)).not.toBeNull()
  expect(pauseAfter(MAX_TRIES, 0.5)).toBeNull()
  const longest = Array.from({ length: MAX_TRIES - 1 }, (_, i) => pauseAfter(i + 1, 0.999) ?? 0)
  expect(longest.reduce((sum, pause) => sum + pause, 0)).toBeLessThan(96 * HOUR)
})
