/** The throttle compared with an oracle that waits millisecond by millisecond. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { GateFact } from '#model/flow/gate-fact.ts'
import { countOf } from '#model/kernel/due-map.ts'
import type { Instant } from '#model/kernel/ids.ts'
import { driveGate, suppressionsOf } from '#test/support/stories/gate-drive.ts'
import { anArrival, policiesWith } from '#test/support/stories/gate-story.ts'
import { PATIENCE_MS, policyCases } from '#test/support/stories/policy-cases.ts'
import type { ThrottlePolicy } from './throttle.ts'

const CASES = policyCases(47)
const policy = fc.record({
  limit: fc.integer({ min: 1, max: 7 }),
  periodMs: fc.integer({ min: 1, max: 30 }),
  burst: fc.integer({ min: 1, max: 4 }),
})
const step = fc.record({
  gapMs: fc.oneof(fc.constant(0), fc.nat(5), fc.nat(60)),
  key: fc.constantFrom('a', 'b'),
  cost: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 7 })),
  restarts: fc.boolean(),
})

interface Request {
  readonly at: Instant
  readonly cost: number
}

/** A bucket of one key that leaks one part in 1 / limit millisecond; a unit of cost adds `periodMs` parts. First come, first served. */
const oracle = ({ limit, periodMs, burst }: ThrottlePolicy, requests: readonly Request[]): readonly Instant[] => {
  const starts: Instant[] = []
  let level = Number.NEGATIVE_INFINITY
  let part = 0
  for (const { at, cost } of requests) {
    while (part < at * limit || level + (cost - burst) * periodMs > 0) {
      part++
      level--
    }
    level = Math.max(level, 0) + cost * periodMs
    starts.push(Math.ceil(part / limit))
  }
  return starts
}

const startOf = (facts: readonly GateFact[]): Instant | undefined => {
  const fact = facts.find((fact) => fact.type === 'gate.started')
  return fact?.type === 'gate.started' ? (fact.notBefore ?? fact.at) : undefined
}

test(
  'throttle-1: [H5] all start, in order, each as early as the bucket allows and never more than limit + burst - 1 in a period',
  () => {
    fc.assert(
      fc.property(policy, fc.array(step, { maxLength: 14, size: 'max' }), (throttle, timeline) => {
        const drive = driveGate(policiesWith({ throttle }))
        const lines = new Map<string, { at: Instant; cost: number; start: Instant | undefined }[]>([
          ['a', []],
          ['b', []],
        ])
        let now = 0
        for (const [i, { gapMs, key, cost, restarts }] of timeline.entries()) {
          now += gapMs
          const fitting = Math.min(cost, throttle.limit)
          const facts = drive.arrive(now, [anArrival(i + 1, { throttleKey: key, cost: fitting })])
          lines.get(key)?.push({ at: now, cost: fitting, start: startOf(facts) })
          if (restarts) drive.restart()
        }
        for (const line of lines.values()) {
          expect(line.map(({ start }) => start).join()).toBe(oracle(throttle, line).join())
          const spent = line.map(({ start: from = 0 }) =>
            line
              .filter(({ start = 0 }) => start >= from && start < from + throttle.periodMs)
              .reduce((sum, { cost }) => sum + cost, 0),
          )
          expect(Math.max(0, ...spent)).toBeLessThanOrEqual(throttle.limit + throttle.burst - 1)
        }
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)

test('[H5] ten thousand starts of 7 in 1000 ms do not drift by a millisecond', () => {
  const drive = driveGate(policiesWith({ throttle: { limit: 7, periodMs: 1_000, burst: 1 } }))
  const arrivals = Array.from({ length: 10_000 }, (_, i) => anArrival(i + 1))
  const starts = drive
    .arrive(0, arrivals)
    .flatMap((fact) => (fact.type === 'gate.started' ? [fact.notBefore ?? 0] : []))
  expect([starts[1], starts[7], starts.at(-1)]).toEqual([143, 1_000, Math.ceil((9_999 * 1_000) / 7)])
})

test('[H5] a key that has been idle for a period is forgotten', () => {
  const drive = driveGate(policiesWith({ throttle: { limit: 2, periodMs: 10, burst: 1 } }))
  for (let i = 1; i <= 100; i++) drive.arrive(i, [anArrival(i, { throttleKey: `k${i}` })])
  drive.arrive(200, [anArrival(101, { throttleKey: 'last' })])
  expect(countOf(drive.state().throttles)).toBe(1)
})

test.each([0, -1, 3, Number.NaN])('[H5] a cost of %d can never fit a limit of 2, and is refused', (cost) => {
  const drive = driveGate(policiesWith({ throttle: { limit: 2, periodMs: 10, burst: 1 } }))
  expect(suppressionsOf(drive.arrive(1, [anArrival(1, { cost })]))).toEqual(['1 error'])
})
