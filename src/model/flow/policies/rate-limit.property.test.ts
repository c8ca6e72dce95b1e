/** The rate limit compared with an oracle that counts every window. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dueEntries, entriesOf } from '#model/kernel/due-map.ts'
import type { Instant } from '#model/kernel/ids.ts'
import { driveGate, startsOf, suppressionsOf } from '#test/support/stories/gate-drive.ts'
import { anArrival, policiesWith } from '#test/support/stories/gate-story.ts'
import { PATIENCE_MS, policyCases } from '#test/support/stories/policy-cases.ts'
import type { RateLimitPolicy } from './rate-limit.ts'

const CASES = policyCases(43)
const policy = fc.record({ limit: fc.integer({ min: 1, max: 4 }), periodMs: fc.integer({ min: 1, max: 20 }) })
const step = fc.record({
  gapMs: fc.oneof(fc.constant(0), fc.nat(7), fc.nat(25)),
  key: fc.constantFrom('a', 'b', '__proto__'),
  restarts: fc.boolean(),
})
const steps = fc.array(step, { maxLength: 14, size: 'max' })

/** Lets an event pass if fewer than the limit passed in the period before; else returns the first instant at which one may pass. */
const oracle = ({ limit, periodMs }: RateLimitPolicy) => {
  const passed = new Map<string, Instant[]>()
  const countAt = (key: string, now: Instant): number =>
    (passed.get(key) ?? []).filter((at) => at > now - periodMs && at <= now).length
  return {
    passed,
    judge: (key: string, now: Instant): Instant | null => {
      let retryAt = now
      while (countAt(key, retryAt) >= limit) retryAt++
      if (retryAt > now) return retryAt
      passed.set(key, [...(passed.get(key) ?? []), now])
      return null
    },
  }
}

test(
  '[H6] which events pass, and when the others may be retried, agrees with a count of every window',
  () => {
    fc.assert(
      fc.property(policy, steps, (rateLimit, timeline) => {
        const drive = driveGate(policiesWith({ rateLimit }))
        const expected = oracle(rateLimit)
        const verdicts: string[] = []
        let now = 100
        for (const [i, { gapMs, key, restarts }] of timeline.entries()) {
          now += gapMs
          drive.arrive(now, [anArrival(i + 1, { rateKey: key })])
          const retryAt = expected.judge(key, now)
          verdicts.push(retryAt === null ? `${i + 1} event @${now}` : `${i + 1} rate_limit retry ${retryAt}`)
          if (restarts) drive.restart()
        }
        expect([...startsOf(drive.history), ...suppressionsOf(drive.history)].sort()).toEqual(verdicts.sort())
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)

test(
  '[H6] no period, wherever it begins, has more events than the limit',
  () => {
    fc.assert(
      fc.property(policy, steps, (rateLimit, timeline) => {
        const drive = driveGate(policiesWith({ rateLimit }))
        let now = 100
        for (const [i, { gapMs }] of timeline.entries()) {
          now += gapMs
          drive.arrive(now, [anArrival(i + 1)])
        }
        const passed = drive.history.flatMap((fact) => (fact.type === 'gate.started' ? [fact.at] : []))
        const within = passed.map((from) => passed.filter((at) => at >= from && at < from + rateLimit.periodMs).length)
        expect(Math.max(0, ...within)).toBeLessThanOrEqual(rateLimit.limit)
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)

test(
  '[H6] instants that no longer count are forgotten',
  () => {
    fc.assert(
      fc.property(policy, steps, (rateLimit, timeline) => {
        const drive = driveGate(policiesWith({ rateLimit }))
        let now = 100
        for (const [i, { gapMs, key }] of timeline.entries()) {
          now += gapMs
          drive.arrive(now, [anArrival(i + 1, { rateKey: `${key}${i % 20}` })])
        }
        drive.arrive(now, [anArrival(1_000, { rateKey: 'last' })])
        const { rates } = drive.state()
        expect(dueEntries(rates, now)).toEqual([])
        expect(Math.max(...entriesOf(rates).map(([, instants]) => instants.length))).toBeLessThanOrEqual(
          rateLimit.limit,
        )
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)

test('[H6] a clock that is set back neither changes the order nor lets more events through', () => {
  const drive = driveGate(policiesWith({ rateLimit: { limit: 2, periodMs: 10 } }))
  drive.arrive(100, [anArrival(1)])
  drive.arrive(95, [anArrival(2)])
  expect(suppressionsOf(drive.arrive(96, [anArrival(3)]))).toEqual(['3 rate_limit retry 105'])
  expect(startsOf(drive.arrive(105, [anArrival(4)]))).toHaveLength(1)
  expect(suppressionsOf(drive.arrive(109, [anArrival(5)]))).toEqual(['5 rate_limit retry 110'])
})
