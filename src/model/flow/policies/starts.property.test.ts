/** Actual starts of throttled runs, with workers that stall at any point, die, and have clocks that jump. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countOf } from '#model/kernel/due-map.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'
import { runOf } from '#test/support/stories/gate-story.ts'
import { PATIENCE_MS, policyCases } from '#test/support/stories/policy-cases.ts'
import { askStart, makeStart, recordStart, type StartFact, type StartPlace, type Starts, startsOf } from './starts.ts'
import type { ThrottlePolicy } from './throttle.ts'

const CASES = policyCases(71)

const anyPolicy = fc.record({
  limit: fc.integer({ min: 1, max: 6 }),
  periodMs: fc.integer({ min: 1, max: 40 }),
  burst: fc.integer({ min: 1, max: 4 }),
})

/** The next step: time passes, a run asks, a run that was given its start begins or dies, the state is read back. */
const anyMoment = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.oneof(fc.nat(6), fc.nat(120)) }), weight: 4 },
  { arbitrary: fc.record({ kind: fc.constant('ask' as const), which: fc.nat(40) }), weight: 8 },
  { arbitrary: fc.record({ kind: fc.constant('begin' as const), which: fc.nat(40) }), weight: 6 },
  { arbitrary: fc.record({ kind: fc.constant('say' as const), which: fc.nat(40) }), weight: 6 },
  { arbitrary: fc.record({ kind: fc.constant('restart' as const) }), weight: 1 },
  { arbitrary: fc.record({ kind: fc.constant('step' as const), ms: fc.integer({ min: -60, max: 60 }) }), weight: 1 },
)

interface Waiting {
  readonly run: RunId
  place: StartPlace
  state: 'waits' | 'given' | 'begun' | 'said'
}

interface Start {
  readonly at: Instant
  readonly cost: number
}

const costIn = (starts: readonly Start[], from: Instant, periodMs: number): number =>
  starts.filter(({ at }) => at >= from && at < from + periodMs).reduce((sum, { cost }) => sum + cost, 0)

class Play {
  starts: Starts = []
  readonly made: Start[] = []
  readonly runs: Waiting[]
  /** The time of the record, which never goes back. */
  now = 1
  private readonly policy: ThrottlePolicy

  constructor(policy: ThrottlePolicy, costs: readonly number[]) {
    this.policy = policy
    this.runs = costs.map((cost, i) => ({
      run: runOf(i + 1),
      place: { key: 'k', cost: Math.min(cost, policy.limit), at: 0, generation: null },
      state: 'waits',
    }))
  }

  private record(fact: StartFact | null): void {
    if (fact !== null) this.starts = recordStart(this.starts, fact)
  }

  private pick(which: number, ...states: readonly Waiting['state'][]): Waiting | undefined {
    const fitting = this.runs.filter(({ state }) => states.includes(state))
    return fitting[which % Math.max(1, fitting.length)]
  }

  ask(which: number): void {
    const one = this.pick(which, 'waits')
    if (one === undefined) return
    const { wait, fact } = askStart(this.starts, this.policy, { run: one.run, place: one.place, now: this.now })
    this.record(fact)
    if (wait === null) one.state = 'given'
    else one.place = { ...one.place, at: wait.until, generation: wait.generation }
  }

  /** The handler is entered: at any time after the start was given, on a worker that may have stalled. */
  begin(which: number): void {
    const one = this.pick(which, 'given')
    if (one === undefined) return
    one.state = 'begun'
    this.made.push({ at: this.now, cost: one.place.cost })
  }

  say(which: number): void {
    const one = this.pick(which, 'begun')
    if (one === undefined) return
    this.record(makeStart(this.starts, this.policy, { run: one.run, key: 'k', now: this.now }))
    one.state = 'said'
  }

  restart(): void {
    this.starts = JSON.parse(JSON.stringify(this.starts)) as Starts
  }
}

test(
  'starts-1: [H5] in no period more than limit + burst - 1 begin, whatever stalls, dies or jumps (14.4.1)',
  () => {
    const costs = fc.array(fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 6 })), { minLength: 1, maxLength: 30 })
    fc.assert(
      fc.property(anyPolicy, costs, fc.array(anyMoment, { maxLength: 120, size: 'max' }), (policy, given, moments) => {
        const play = new Play(policy, given)
        for (const moment of moments) {
          if (moment.kind === 'pass') play.now += moment.ms
          // The time of the record never goes back: if a clock does, it stops there.
          else if (moment.kind === 'step') play.now += Math.max(0, moment.ms)
          else if (moment.kind === 'ask') play.ask(moment.which)
          else if (moment.kind === 'begin') play.begin(moment.which)
          else if (moment.kind === 'say') play.say(moment.which)
          else play.restart()
        }
        const most = Math.max(0, ...play.made.map(({ at }) => costIn(play.made, at, policy.periodMs)))
        expect(most).toBeLessThanOrEqual(policy.limit + policy.burst - 1)
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)

/** Each run asks at the instant that it was given, begins at once and records it at once, except for one stall of all of them. */
const playOut = (policy: ThrottlePolicy, count: number, stall: { readonly at: Instant; readonly ms: number }) => {
  let starts: Starts = []
  const order: number[] = []
  let asks = 0
  const runs = Array.from({ length: count }, (_, i) => ({
    n: i,
    run: runOf(i + 1),
    place: { key: 'k', cost: 1, at: 0, generation: null } as StartPlace,
  }))
  for (let now = 0; runs.length > 0; now++) {
    if (now === stall.at) now += stall.ms
    for (const one of runs
      .filter(({ place }) => place.at <= now)
      .sort((a, b) => a.place.at - b.place.at || a.n - b.n)) {
      const { wait, fact } = askStart(starts, policy, { run: one.run, place: one.place, now })
      asks++
      if (fact !== null) starts = recordStart(starts, fact)
      if (wait !== null) {
        one.place = { ...one.place, at: wait.until, generation: wait.generation }
        continue
      }
      order.push(one.n)
      runs.splice(runs.indexOf(one), 1)
      const made = makeStart(starts, policy, { run: one.run, key: 'k', now })
      if (made !== null) starts = recordStart(starts, made)
    }
  }
  return { order, asks, starts }
}

test('starts-2: [H5] all begin in their order, and a stall costs each run one more request (14.4.1)', () => {
  const policy = { limit: 10, periodMs: 1_000, burst: 2 }
  const calm = playOut(policy, 200, { at: -1, ms: 0 })
  const stalled = playOut(policy, 200, { at: 5_000, ms: 3_000 })
  const inOrder = Array.from({ length: 200 }, (_, i) => i)
  expect(calm.order).toEqual(inOrder)
  expect(stalled.order).toEqual(inOrder)
  expect(calm.asks).toBeLessThanOrEqual(400)
  expect(stalled.asks).toBeLessThanOrEqual(600)
})

test('[H5] a start that was given to a worker that died is given to the run again, and counts once', () => {
  const policy = { limit: 1, periodMs: 10, burst: 1 }
  const place = { key: 'k', cost: 1, at: 0, generation: null }
  const first = askStart([], policy, { run: runOf(1), place, now: 5 })
  const starts = recordStart([], first.fact as StartFact)
  expect(askStart(starts, policy, { run: runOf(1), place, now: 5_000 })).toEqual({ wait: null, fact: null })
  expect(askStart(starts, policy, { run: runOf(2), place, now: 5_000 }).wait?.until).toBe(5_010)
})

test('[H5] a key without starts in progress is forgotten after a period', () => {
  const policy = { limit: 1, periodMs: 10, burst: 1 }
  let starts: Starts = []
  for (let i = 1; i <= 50; i++) {
    const key = `k${i}`
    const now = i * 100
    const asked = askStart(starts, policy, { run: runOf(i), place: { key, cost: 1, at: 0, generation: null }, now })
    starts = recordStart(starts, asked.fact as StartFact)
    starts = recordStart(starts, makeStart(starts, policy, { run: runOf(i), key, now }) as StartFact)
  }
  expect(countOf(starts)).toBe(1)
  expect(countOf(startsOf(starts, 'k50').given)).toBe(0)
})
