/** Debouncing compared with an oracle that reads the whole timeline and divides it into bursts. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countOf } from '#model/kernel/due-map.ts'
import type { Instant } from '#model/kernel/ids.ts'
import { driveGate, startsOf, suppressionsOf } from '#test/support/stories/gate-drive.ts'
import { anArrival, policiesWith } from '#test/support/stories/gate-story.ts'
import { PATIENCE_MS, policyCases } from '#test/support/stories/policy-cases.ts'
import type { DebouncePolicy } from './debounce.ts'

const CASES = policyCases(53)
const policy = fc.record({
  periodMs: fc.integer({ min: 1, max: 12 }),
  mode: fc.constantFrom('trailing' as const, 'leading' as const, 'collect' as const),
  maxWaitMs: fc.option(fc.integer({ min: 1, max: 30 })),
})
const step = fc.record({
  gapMs: fc.oneof(fc.constant(0), fc.nat(6), fc.nat(20)),
  /** How much older than now the event's own time is. */
  ageMs: fc.oneof(fc.constant(0), fc.nat(10)),
  key: fc.constantFrom('a', 'b'),
  restarts: fc.boolean(),
})

interface Arrived {
  readonly sequence: number
  readonly at: Instant
  readonly time: Instant
}

interface Burst {
  readonly members: Arrived[]
  readonly late: Arrived[]
  endsAt: Instant
}

/** Returns the expected facts of one key, line by line. */
const oracle = ({ periodMs, mode, maxWaitMs }: DebouncePolicy, arrived: readonly Arrived[]): readonly string[] => {
  const bursts: Burst[] = []
  for (const one of arrived) {
    if (one.at >= (bursts.at(-1)?.endsAt ?? 0)) bursts.push({ members: [], late: [], endsAt: 0 })
    const burst = bursts.at(-1) as Burst
    const isLate = mode === 'trailing' && burst.members.some(({ time }) => time > one.time)
    ;(isLate ? burst.late : burst.members).push(one)
    const openedAt = burst.members[0]?.at ?? one.at
    if (!isLate) burst.endsAt = Math.min(one.at + periodMs, openedAt + (maxWaitMs ?? Number.POSITIVE_INFINITY))
  }
  return bursts.flatMap(({ members, late, endsAt }) => {
    const [first, last] = [members[0], members.at(-1)]
    const started = mode === 'leading' ? `${first?.sequence} event @${first?.at}` : `${last?.sequence} event @${endsAt}`
    if (mode === 'collect') return [`${members.map(({ sequence }) => sequence).join('+')} events @${endsAt}`]
    const winner = mode === 'leading' ? first : last
    const lost = [...members, ...late].filter((one) => one !== winner)
    return [started, ...lost.map(({ sequence }) => `${sequence} debounced into ${first?.sequence}`)]
  })
}

test(
  '[H4] each burst starts one run at its time, and every other event is recorded with that run',
  () => {
    fc.assert(
      fc.property(policy, fc.array(step, { maxLength: 14, size: 'max' }), (debounce, timeline) => {
        const drive = driveGate(policiesWith({ debounce }))
        const lines = { a: [] as Arrived[], b: [] as Arrived[] }
        let at = 100
        for (const [i, { gapMs, ageMs, key, restarts }] of timeline.entries()) {
          at += gapMs
          const one = { sequence: i + 1, at, time: at - ageMs }
          lines[key].push(one)
          drive.passTo(at)
          drive.arrive(at, [anArrival(one.sequence, { time: one.time, windowKey: key })])
          if (restarts) drive.restart()
        }
        drive.passTo(at + 100)
        const expected = [...oracle(debounce, lines.a), ...oracle(debounce, lines.b)]
        expect([...startsOf(drive.history), ...suppressionsOf(drive.history)].sort()).toEqual(expected.sort())
        expect(countOf(drive.state().windows)).toBe(0)
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)

test('[H4] a gate that wakes late starts the run of the old burst before it opens a new one', () => {
  const drive = driveGate(policiesWith({ debounce: { periodMs: 10, mode: 'trailing', maxWaitMs: 100 } }))
  drive.arrive(0, [anArrival(1)])
  expect(startsOf(drive.arrive(10, [anArrival(2)]))).toEqual(['1 event @10'])
  drive.passTo(20)
  expect(startsOf(drive.history)).toEqual(['1 event @10', '2 event @20'])
})

test('[H4] collect starts its run at a thousand events, and before ten mebibytes are exceeded', () => {
  const drive = driveGate(policiesWith({ debounce: { periodMs: 10, mode: 'collect', maxWaitMs: null } }))
  const many = Array.from({ length: 1_001 }, (_, i) => anArrival(i + 1))
  expect(drive.arrive(1, many).flatMap((fact) => (fact.type === 'gate.started' ? [fact.events.length] : []))).toEqual([
    1_000,
  ])
  const bytes = 6 * 1024 * 1024
  expect(startsOf(drive.arrive(2, [anArrival(2_001, { bytes }), anArrival(2_002, { bytes })]))).toEqual([
    '1001+2001 events @2',
  ])
})

test("[H4] bursts that have ended are forgotten when another key's event comes", () => {
  const drive = driveGate(policiesWith({ debounce: { periodMs: 5, mode: 'leading', maxWaitMs: null } }))
  for (let i = 1; i <= 100; i++) drive.arrive(i * 10, [anArrival(i, { windowKey: `k${i}` })])
  expect(countOf(drive.state().bursts)).toBe(1)
})

test('[H4] a leading burst does not start with an event that was suppressed by overlap', () => {
  const drive = driveGate(
    policiesWith({ debounce: { periodMs: 5, mode: 'leading', maxWaitMs: null }, overlap: 'skip' }),
  )
  drive.arrive(1, [anArrival(1)])
  expect(suppressionsOf(drive.arrive(10, [anArrival(2), anArrival(3)]))).toEqual(['2 overlap', '3 overlap'])
})
