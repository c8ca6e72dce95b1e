/** Waits for events, compared with an oracle that knows neither folds nor facts: any events, in any order, with or without a timeout. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RunState } from '#model/run/fact.ts'
import { policyCases } from '#test/support/stories/policy-cases.ts'
import { take } from '#test/support/stories/run-arbitrary.ts'
import { aWait, command, started, stateAfter } from '#test/support/stories/run-story.ts'
import type { Received, WaitSpec } from './wait.ts'

const TYPES = ['x', 'y', 'z']
const TIMEOUT_AT = 50

interface Arrivals {
  readonly mode: 'any' | 'all'
  readonly types: readonly string[]
  readonly base: number
  readonly events: readonly Received[]
  /** The timeout passes before the event with this index; null: never. */
  readonly timeoutBefore: number | null
}

const received: fc.Arbitrary<Received> = fc.record({ type: fc.constantFrom(...TYPES, 'other'), sequence: fc.nat(9) })
const arrivals: fc.Arbitrary<Arrivals> = fc.record({
  mode: fc.constantFrom('any' as const, 'all' as const),
  types: fc.uniqueArray(fc.constantFrom(...TYPES), { minLength: 1 }),
  base: fc.nat(4),
  events: fc.array(received, { maxLength: 12, size: 'max' }),
  timeoutBefore: fc.option(fc.nat(12), { freq: 2 }),
})

/** Takes the first event of each type (`any`: of all types) after the base, until there are enough or the timeout has passed. */
const oracle = ({ mode, types, base, events, timeoutBefore }: Arrivals) => {
  const wanted = mode === 'any' ? 1 : types.length
  const inTime = timeoutBefore === null ? events : events.slice(0, timeoutBefore)
  const taken: Received[] = []
  for (const event of inTime) {
    if (taken.length === wanted) break
    if (event.sequence <= base || !types.includes(event.type)) continue
    if (taken.some((earlier) => earlier.type === event.type || earlier.sequence === event.sequence)) continue
    taken.push(event)
  }
  const isComplete = taken.length === wanted
  if (!isComplete && timeoutBefore === null) return { kind: 'waiting', received: taken }
  const missing = isComplete ? [] : types.filter((type) => !taken.some((event) => event.type === type))
  return { kind: 'received', events: taken, timedOut: !isComplete, missing }
}

const play = ({ mode, types, base, events, timeoutBefore }: Arrivals): RunState => {
  const wait: WaitSpec = aWait({ mode, types, base, timeoutAt: timeoutBefore === null ? null : TIMEOUT_AT })
  let state = take(stateAfter(started()), command('open_wait', { wait })).after
  for (let i = 0; i <= Math.max(events.length, timeoutBefore ?? 0); i++) {
    if (i === timeoutBefore) state = take(state, command('pass_time', { now: TIMEOUT_AT })).after
    const event = events[i]
    if (event !== undefined) state = take(state, command('receive_event', { event })).after
  }
  return state
}

test('wait-1: wait-2: [A8] a wait receives what the oracle receives and ends when the oracle ends', () => {
  const seen = { waiting: 0, received: 0 }
  fc.assert(
    fc.property(arrivals, (given) => {
      const state = play(given)
      if (state.kind !== 'live') throw new Error(`the run is ${state.kind}`)
      const expected = oracle(given)
      const open = state.open.get('mail')
      const found =
        open?.kind === 'waiting' ? { kind: 'waiting', received: open.wait.received } : state.settled.get('mail')
      expect(found).toEqual(expected)
      seen[expected.kind === 'waiting' ? 'waiting' : 'received'] += 1
    }),
    policyCases(19, 1_000),
  )
  expect(Math.min(seen.waiting, seen.received)).toBeGreaterThan(200)
})
