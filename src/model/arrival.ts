/**
 * An event on its way to a run: as it reaches a gate, and as the run that it will be.
 *
 * Owns the two shapes. Which policies stand in the way is the gate's.
 */
import type { Instant, RunId } from './ids.ts'

/** One event that passed hops and filter. Keys are texts; empty where the policy has no key. */
export interface Arrival {
  /** The event's ledger sequence: its identity. */
  readonly sequence: number
  readonly time: Instant
  readonly bytes: number
  readonly idempotencyKey: string | null
  readonly rateKey: string
  /** Of debounce or batch. */
  readonly windowKey: string
  readonly overlapKey: string
  readonly throttleKey: string
  readonly cost: number
  /** Seconds. */
  readonly priority: number
  /** `batch.if` was false: runs alone, now. */
  readonly alone: boolean
}

/** An event in a candidate, with the idempotency key that it holds. */
export interface CandidateEvent {
  readonly sequence: number
  readonly key: string | null
}

/** A run that may start: its id is fixed by the event that began it, whoever joins or replaces that event later. */
export interface Candidate {
  readonly run: RunId
  readonly events: readonly CandidateEvent[]
  /** What the handler is given: one event, or a list. */
  readonly how: 'event' | 'events'
  readonly overlapKey: string
  readonly throttleKey: string
  readonly cost: number
  readonly priority: number
}

export const eventOf = (arrival: Arrival): CandidateEvent => ({
  sequence: arrival.sequence,
  key: arrival.idempotencyKey,
})

/** Of a list, the event that began it speaks for all: its keys, its cost, its priority. */
export const candidateOf = (run: RunId, arrival: Arrival, how: Candidate['how']): Candidate => ({
  run,
  events: [eventOf(arrival)],
  how,
  overlapKey: arrival.overlapKey,
  throttleKey: arrival.throttleKey,
  cost: arrival.cost,
  priority: arrival.priority,
})

/** The candidate without this event; null without its last one. */
export const withoutEvent = (candidate: Candidate, sequence: number): Candidate | null => {
  const events = candidate.events.filter((event) => event.sequence !== sequence)
  return events.length === 0 ? null : { ...candidate, events }
}
