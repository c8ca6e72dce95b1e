/**
 * The crash sweep: a scenario is run once to count its ledger calls and effects, then once for every one of them with the worker
 * crashing there, before the call, with it done and unanswered, and after its answer. All points, none sampled.
 *
 * Owns the scenarios and the visits. What was lost or doubled is found by the same checks as everywhere in the simulator.
 */
import { book, note, pay, strike } from '#test/chaos/sim/plays/effects.ts'
import { announce, custody, family } from '#test/chaos/sim/plays/families.ts'
import { collect, fresh } from '#test/chaos/sim/plays/gates.ts'
import { brief } from '#test/chaos/sim/plays/schedules.ts'
import { flaky, hasty, large, nap, parallel, sequence } from '#test/chaos/sim/plays/steps.ts'
import { both, early, either, race } from '#test/chaos/sim/plays/waits.ts'
import { type CrashPoint, POSITIONS, type Position } from './crash-points.ts'
import type { Planned } from './errands.ts'
import type { Play } from './play.ts'
import { Tape } from './tape.ts'
import { type SimOptions, Theatre, type Verdict } from './theatre.ts'

export interface Scenario {
  readonly name: string
  readonly planned: readonly Planned[]
  /** Events are sent at once, not when the run rests: before the wait instead of after it. */
  readonly isEager: boolean
}

const of = (play: Play, kind: number, isEager = false): Scenario => ({
  name: `${play.name} ${kind}${isEager ? ', events first' : ''}`,
  planned: [{ play, errand: { id: 1, kind } }],
  isEager,
})

/** Every kind of step, and a few runs together. */
export const SCENARIOS: readonly Scenario[] = [
  of(sequence, 0),
  of(pay, 0),
  of(book, 1),
  of(family, 0),
  of(either, 1),
  of(early, 0, true),
  of(both, 0),
  of(race, 0, true),
  of(nap, 1),
  of(parallel, 2),
  of(flaky, 0),
  of(hasty, 1),
  of(strike, 0),
  of(pay, 2),
  of(announce, 0),
  of(custody, 1),
  of(note, 0),
  of(large, 0),
  {
    name: 'two in one session and a payment',
    planned: [
      { play: note, errand: { id: 1, kind: 0 } },
      { play: note, errand: { id: 2, kind: 0 } },
      { play: pay, errand: { id: 3, kind: 0 } },
    ],
    isEager: true,
  },
]

/** Handlers with a gate, and a schedule: each in a system of its own. */
export const COORDINATOR_SCENARIOS: readonly Scenario[] = [
  {
    name: 'a debounced list behind another',
    planned: [
      { play: collect, errand: { id: 1, kind: 0 } },
      { play: collect, errand: { id: 2, kind: 3 } },
    ],
    isEager: true,
  },
  {
    name: 'an event that cancels the run before it',
    planned: [
      { play: fresh, errand: { id: 1, kind: 0 } },
      { play: fresh, errand: { id: 2, kind: 0 } },
    ],
    isEager: true,
  },
  // The worker that follows a dead one is late: slots are missed, and caught up.
  { name: 'a schedule', planned: [{ play: brief, errand: { id: 1, kind: 0 } }], isEager: true },
]

export const playsOf = ({ planned }: Scenario): readonly Play[] => [...new Set(planned.map(({ play }) => play))]

export interface Visit extends Verdict {
  /** How many points there were. */
  readonly points: number
  /** How many of the crashes happened. */
  readonly crashed: number
}

/** One run of the scenario with a single worker, which crashes at these points; a new one replaces it each time. */
export const visit = (scenario: Scenario, options: SimOptions, crashes: readonly CrashPoint[]): Visit => {
  const theatre = new Theatre(Tape.of([]), { ...options, planned: () => scenario.planned, crashes })
  const { cast, errands, points } = theatre
  const verdict = theatre.play(() => {
    cast.spawn()
    theatre.rest()
    while (scenario.isEager && errands.isPending && cast.serving.length > 0) errands.doOne()
    theatre.calm()
  })
  return { ...verdict, points: points.passed, crashed: points.fired }
}

export interface SweepReport {
  readonly scenario: string
  readonly points: number
  readonly visits: number
  /** Visits with a violation. */
  readonly failed: number
  readonly facts: number
  readonly crashes: Readonly<Record<Position, number>>
  readonly violations: readonly string[]
}

const placeOf = (crashes: readonly CrashPoint[]): string =>
  crashes.map(({ point, position }) => `${position} ${point}`).join(' and ')

/** Visits all points of one scenario, and all pairs of points if there are no more than `pairsUpTo` of them. */
export const sweep = (scenario: Scenario, options: SimOptions, pairsUpTo: number): SweepReport => {
  const crashes: Record<Position, number> = { before: 0, done: 0, after: 0 }
  const violations: string[] = []
  let [visits, failed, facts] = [0, 0, 0]
  const judge = (points: readonly CrashPoint[]): Visit => {
    const seen = visit(scenario, options, points)
    visits++
    if (seen.violations.length > 0) failed++
    facts += seen.facts
    for (const { position } of points.slice(0, seen.crashed)) crashes[position]++
    for (const violation of seen.violations) violations.push(`${scenario.name}, crash ${placeOf(points)}: ${violation}`)
    return seen
  }
  const { points } = judge([])
  for (const first of pointsUpTo(points, POSITIONS)) {
    const after = judge([first])
    if (points > pairsUpTo) continue
    for (const second of pointsUpTo(after.points, PAIRED)) if (second.point > first.point) judge([first, second])
  }
  return { scenario: scenario.name, points, visits, failed, facts, crashes, violations }
}

/** In pairs the second crash comes before a call or with it unanswered; after it is the same as before the next. */
const PAIRED = ['before', 'done'] as const

export const pointsUpTo = (count: number, positions: readonly Position[]): readonly CrashPoint[] =>
  Array.from({ length: count }, (_, i) => positions.map((position) => ({ point: i + 1, position }))).flat()
