/** One run per key, compared with an oracle that remembers every run. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countOf } from '#model/kernel/due-map.ts'
import type { Instant } from '#model/kernel/ids.ts'
import type { RunStatus } from '#model/run/status.ts'
import { driveGate, startsOf, suppressionsOf } from '#test/support/stories/gate-drive.ts'
import { anArrival, policiesWith, runOf } from '#test/support/stories/gate-story.ts'
import { PATIENCE_MS, policyCases } from '#test/support/stories/policy-cases.ts'
import type { IdempotencyPolicy } from './idempotency.ts'

const CASES = policyCases(67)
const policy: fc.Arbitrary<IdempotencyPolicy> = fc.record({
  release: fc.constantFrom('on_failure', 'on_terminal', 'ttl'),
  ttlMs: fc.integer({ min: 1, max: 30 }),
  onConflict: fc.constantFrom('return_existing', 'reject', 'replace'),
})
const step = fc.record({
  gapMs: fc.oneof(fc.constant(0), fc.nat(6), fc.nat(30)),
  ends: fc.oneof(fc.constant(-1), fc.nat(6)),
  status: fc.constantFrom<RunStatus>('success', 'partial', 'failed', 'cancelled', 'expired', 'quarantined'),
  key: fc.constantFrom('a', 'b', '__proto__', null),
  restarts: fc.boolean(),
})

interface Known {
  readonly sequence: number
  readonly key: string
  readonly at: Instant
  ended: RunStatus | null
}

const oracle = ({ release, ttlMs, onConflict }: IdempotencyPolicy) => {
  const runs: Known[] = []
  const holds = ({ at, ended }: Known, now: Instant): boolean => {
    if (release === 'ttl') return now < at + ttlMs
    if (ended === null) return true
    return release === 'on_failure' && (ended === 'success' || ended === 'partial') && now < at + ttlMs
  }
  return {
    end: (sequence: number, status: RunStatus): void => {
      const run = runs.find((one) => one.sequence === sequence && one.ended === null)
      if (run !== undefined) run.ended = status
    },
    arrive: (sequence: number, key: string | null, at: Instant): readonly string[] => {
      if (key === null) return [`${sequence} event @${at}`]
      // A replaced run has lost its key to the one after it.
      const last = runs.findLast((one) => one.key === key)
      const holder = last !== undefined && holds(last, at) ? last : undefined
      if (holder !== undefined && onConflict !== 'replace') return [`${sequence} duplicate into ${holder.sequence}`]
      runs.push({ sequence, key, at, ended: null })
      const stops = holder !== undefined && holder.ended === null ? [`stop ${holder.sequence}`] : []
      return [`${sequence} event @${at}`, ...stops]
    },
  }
}

test(
  'a key has one run while that run lives and as long as the policy says; a run that failed frees it',
  () => {
    fc.assert(
      fc.property(policy, fc.array(step, { maxLength: 14, size: 'max' }), (idempotency, timeline) => {
        const drive = driveGate(policiesWith({ idempotency }))
        const model = oracle(idempotency)
        const expected: string[] = []
        let now = 100
        for (const [i, { gapMs, ends, status, key, restarts }] of timeline.entries()) {
          now += gapMs
          if (ends < 0) {
            drive.arrive(now, [anArrival(i + 1, { idempotencyKey: key })])
            expected.push(...model.arrive(i + 1, key, now))
          } else {
            drive.end(now, runOf(ends), status)
            model.end(ends, status)
          }
          if (restarts) drive.restart()
        }
        const stops = drive.history.flatMap((fact) =>
          fact.type === 'gate.cancel_wanted' ? [`stop ${Number.parseInt(fact.run.slice(-8), 16)}`] : [],
        )
        const actual = [...startsOf(drive.history), ...suppressionsOf(drive.history), ...stops]
        expect(actual.sort()).toEqual(expected.sort())
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)

test('keys that have expired are forgotten', () => {
  const idempotency = { release: 'on_failure', ttlMs: 20, onConflict: 'reject' } as const
  const drive = driveGate(policiesWith({ idempotency }))
  for (let i = 1; i <= 100; i++) {
    drive.arrive(i * 10, [anArrival(i, { idempotencyKey: `k${i}` })])
    drive.end(i * 10 + 1, runOf(i), i % 2 === 0 ? 'success' : 'failed')
  }
  expect([countOf(drive.state().claims), countOf(drive.state().runs)]).toEqual([1, 0])
})

test('an event that is suppressed frees its key', () => {
  const idempotency = { release: 'on_failure', ttlMs: 1_000, onConflict: 'return_existing' } as const
  const drive = driveGate(policiesWith({ idempotency, rateLimit: { limit: 1, periodMs: 10 } }))
  drive.arrive(1, [anArrival(1, { idempotencyKey: 'a' }), anArrival(2, { idempotencyKey: 'b' })])
  expect(startsOf(drive.arrive(20, [anArrival(3, { idempotencyKey: 'b' })]))).toEqual(['3 event @20'])
})

test('a waiting event of a batch is replaced by a newer one with its key; a batch that has started continues', () => {
  const idempotency = { release: 'on_terminal', ttlMs: 1_000, onConflict: 'replace' } as const
  const batch = { maxSize: 3, maxWaitMs: 100, maxBytes: 1_000 }
  const drive = driveGate(policiesWith({ idempotency, batch }))
  const facts = drive.arrive(
    1,
    ['a', 'b', 'a', 'c', 'a'].map((idempotencyKey, i) => anArrival(i + 1, { idempotencyKey })),
  )
  expect([startsOf(facts), suppressionsOf(facts)]).toEqual([['2+3+4 events @1'], ['1 duplicate into 1']])
  expect(facts.filter(({ type }) => type === 'gate.cancel_wanted')).toEqual([])
  drive.passTo(200)
  expect(startsOf(drive.history)).toEqual(['2+3+4 events @1', '5 events @101'])
})
