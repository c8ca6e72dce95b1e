/** The idempotency keys of a batch's items when its run ends. */
import { expect, test } from 'vitest'
import type { Arrival } from '#model/event/arrival.ts'
import type { IdempotencyPolicy } from '#model/flow/policies/idempotency.ts'
import { entriesOf } from '#model/kernel/due-map.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { anArrival, policiesWith, runOf } from '#test/support/stories/gate-story.ts'
import { gate } from './gate.ts'
import type { EndedRun, FlowPolicies, GateCommand, GateState, OpenGate } from './gate-fact.ts'

const retry = { maxAttempts: 2, baseMs: 100, factor: 1, maxMs: 100 }
const keyed = (sequence: number, key: string): Arrival => anArrival(sequence, { idempotencyKey: key })

const aBatch = (given: Partial<FlowPolicies> = {}, idempotency: Partial<IdempotencyPolicy> = {}) => {
  const policies = policiesWith({
    idempotency: { release: 'on_failure', ttlMs: 10_000, onConflict: 'return_existing', ...idempotency },
    batch: { maxSize: 2, maxWaitMs: 50, maxBytes: 1_000, retry },
    ...given,
  })
  let state: GateState = gate.initial
  const give = (command: GateCommand): void => {
    const decision = gate.decide(state, command)
    if (decision.kind === 'refused') throw new Error(decision.detail)
    state = decision.facts.reduce(gate.evolve, state)
  }
  give({ type: 'open_gate', now: 0, cursor: 0 })
  const ruled = (now: number) => ({ now, policies, runOf })
  return {
    arrive: (now: number, ...arrivals: readonly Arrival[]) =>
      give({ type: 'arrive', ...ruled(now), arrivals, refused: [], cursor: arrivals.at(-1)?.sequence ?? 0 }),
    end: (now: number, ended: EndedRun) => give({ type: 'end_runs', ...ruled(now), ended: [ended] }),
    pass: (now: number) => give({ type: 'pass_time', ...ruled(now) }),
    /** The run that holds each key, and until when. */
    holders: (): Readonly<Record<string, readonly [RunId, number | null]>> =>
      Object.fromEntries(
        entriesOf((state as OpenGate).claims).map(([key, { run, expiresAt }]) => [key, [run, expiresAt]]),
      ),
    runs: () => entriesOf((state as OpenGate).runs).map(([run]) => run),
  }
}

const failing = (run: RunId, next: RunId, arrivals: readonly Arrival[], status: EndedRun['status']): EndedRun => ({
  run,
  status,
  failed: { arrivals, next, roll: 1 },
})

test('batch-items-1: in a batch, an item that succeeded keeps its key, and one that is retried holds it for its next run (14.4.2)', () => {
  const batch = aBatch()
  batch.arrive(1, keyed(1, 'a'), keyed(2, 'b'))
  batch.end(10, failing(runOf(1), runOf(9), [keyed(2, 'b')], 'partial'))
  expect(batch.holders()).toEqual({ a: [runOf(1), 10_001], b: [runOf(9), null] })
  batch.pass(200)
  expect(batch.runs()).toEqual([runOf(9)])
  batch.end(300, failing(runOf(9), runOf(10), [keyed(2, 'b')], 'failed'))
  expect(batch.holders()).toEqual({ a: [runOf(1), 10_001] })
})

test('batch-items-1: an item that succeeded in its second attempt keeps its key as one that did in its first (14.4.2)', () => {
  const batch = aBatch()
  batch.arrive(1, keyed(1, 'a'), keyed(2, 'b'))
  batch.end(10, failing(runOf(1), runOf(9), [keyed(1, 'a'), keyed(2, 'b')], 'failed'))
  expect(batch.holders()).toEqual({ a: [runOf(9), null], b: [runOf(9), null] })
  batch.pass(200)
  batch.end(300, { run: runOf(9), status: 'success' })
  expect(batch.holders()).toEqual({ a: [runOf(9), 10_001], b: [runOf(9), 10_001] })
})

test('batch-items-1: under on_conflict replace, a newer event with the key of an item that waits for its retry replaces it', () => {
  const batch = aBatch({}, { onConflict: 'replace' })
  batch.arrive(1, keyed(1, 'a'), keyed(2, 'b'))
  batch.end(10, failing(runOf(1), runOf(9), [keyed(2, 'b')], 'partial'))
  batch.arrive(20, keyed(3, 'b'))
  expect(batch.holders()['b']?.[0]).toBe(runOf(3))
  batch.pass(500)
  expect(batch.runs()).toEqual([runOf(3)])
})

test('batch-items-1: a key that is released by its ttl is not freed by a failure', () => {
  const batch = aBatch({}, { release: 'ttl' })
  batch.arrive(1, keyed(1, 'a'), keyed(2, 'b'))
  batch.end(10, failing(runOf(1), runOf(9), [keyed(2, 'b')], 'partial'))
  expect(batch.holders()).toEqual({ a: [runOf(1), 10_001], b: [runOf(1), 10_001] })
})
