/** The rules of a gate, one by one. */
import { expect, test } from 'vitest'
import type { Arrival } from '#model/event/arrival.ts'
import type { Instant } from '#model/kernel/ids.ts'
import type { RunStatus } from '#model/run/status.ts'
import { anArrival, policiesWith, runOf } from '#test/support/stories/gate-story.ts'
import { gate } from './gate.ts'
import type { FlowPolicies, GateCommand, GateFact, GateState } from './gate-fact.ts'
import { gateWakeAt, resumeGateFrom, wantedCancels } from './gate-read.ts'

/** A gate driven by single commands; keeps all its facts. */
const openGate = (given: Partial<FlowPolicies>) => {
  const policies = policiesWith(given)
  const history: GateFact[] = []
  let state: GateState = gate.initial
  const give = (command: GateCommand): readonly GateFact[] => {
    const decision = gate.decide(state, command)
    if (decision.kind === 'refused') throw new Error(decision.detail)
    history.push(...decision.facts)
    state = decision.facts.reduce(gate.evolve, state)
    return decision.facts
  }
  const ruled = (now: Instant) => ({ now, policies, runOf })
  give({ type: 'open_gate', now: 0, cursor: 0 })
  return {
    history,
    state: () => state,
    wakeAt: () => gateWakeAt(state),
    arrive: (now: Instant, ...arrivals: readonly Arrival[]) =>
      give({ type: 'arrive', ...ruled(now), arrivals, refused: [], cursor: arrivals.at(-1)?.sequence ?? 0 }),
    pass: (now: Instant) => give({ type: 'pass_time', ...ruled(now) }),
    end: (now: Instant, sequence: number, status: RunStatus) =>
      give({ type: 'end_runs', ...ruled(now), ended: [{ run: runOf(sequence), status }] }),
    pause: (now: Instant) => give({ type: 'pause_gate', now, by: 'ana' }),
    resume: (now: Instant) => give({ type: 'resume_gate', now, by: 'ana' }),
    give,
  }
}

const started = (facts: readonly GateFact[]) =>
  facts.flatMap((fact) => (fact.type === 'gate.started' ? [fact.events] : []))
const suppressed = (facts: readonly GateFact[]) =>
  facts.flatMap((fact) => (fact.type === 'trigger.suppressed' ? [[fact.sequence, fact.reason]] : []))

test('without policies each event starts a run of its own', () => {
  const handler = openGate({})
  expect(started(handler.arrive(5, anArrival(1), anArrival(2)))).toEqual([[1], [2]])
  expect(handler.wakeAt()).toBeNull()
})

test('a gate that was never opened refuses', () => {
  expect(gate.decide(gate.initial, { type: 'pause_gate', now: 1, by: 'ana' })).toMatchObject({ code: 'NOT_FOUND' })
})

test('gate-2: an event that is delivered again, below or beyond the cursor, does nothing', () => {
  const handler = openGate({})
  const told = {
    type: 'arrive',
    now: 5,
    policies: policiesWith({}),
    runOf,
    arrivals: [anArrival(3), anArrival(5)],
    refused: [{ sequence: 4, reason: 'filter', detail: 'payload.big' }],
    cursor: 3,
  } as const
  expect(started(handler.give(told))).toEqual([[3], [5]])
  expect(handler.state()).toMatchObject({ cursor: 3, beyond: [4, 5] })
  expect(handler.give(told)).toEqual([])
  expect(suppressed(handler.history)).toEqual([[4, 'filter']])
})

test('gate-3: a paused gate holds new arrivals, and events that were in a window', () => {
  const handler = openGate({ whilePaused: 'hold', debounce: { periodMs: 10, mode: 'trailing', maxWaitMs: null } })
  handler.arrive(1, anArrival(1))
  handler.pause(2)
  expect(started(handler.arrive(3, anArrival(2, { windowKey: 'b' })))).toEqual([])
  expect([handler.wakeAt(), handler.pass(50)]).toEqual([null, []])
  handler.resume(60)
  expect(handler.wakeAt()).toBe(0)
  expect(started(handler.pass(60))).toEqual([[1]])
  expect(started(handler.pass(70))).toEqual([[2]])
})

test('gate-4: a checkpoint and the facts after it give the same state as the whole history', () => {
  const handler = openGate({ batch: { maxSize: 3, maxWaitMs: 100, maxBytes: 1_000 } })
  handler.arrive(1, anArrival(1))
  handler.give({ type: 'checkpoint_gate', now: 2 })
  handler.arrive(3, anArrival(2))
  const tail = handler.history.slice(handler.history.findIndex((fact) => fact.type === 'gate.checkpointed'))
  expect(resumeGateFrom(tail)).toEqual(handler.state())
  expect(resumeGateFrom(tail.slice(1))).toBeNull()
})

test('a run that must be cancelled for a newer one is listed until it has ended', () => {
  const handler = openGate({ overlap: 'cancel_running' })
  handler.arrive(1, anArrival(1))
  expect(started(handler.arrive(2, anArrival(2)))).toEqual([])
  expect(wantedCancels(handler.state())).toEqual([{ run: runOf(1), mode: 'cancel' }])
  expect(started(handler.end(3, 1, 'cancelled'))).toEqual([[2]])
  expect(wantedCancels(handler.state())).toEqual([])
})
