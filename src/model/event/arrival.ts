/**
 * An event on its way to a run: as it reaches a gate, and as the run that it will be.
 *
 * Owns the two shapes. Which policies stand in the way is the gate's.
 */
import type { Kind } from '#model/access/identity.ts'
import type { CallTerms } from '#model/agent/call-terms.ts'
import type { Instant, RunId, ScheduleId, SessionId } from '#model/kernel/ids.ts'
import type { RunInput } from '#model/run/fact.ts'
import type { Cause } from './event.ts'

export interface CallParent {
  readonly run: RunId
  readonly step: string
  readonly depth: number
  /** The runs above it, as far as one of them may stand in the way of the call. */
  readonly above?: readonly RunId[]
  readonly onParentEnd?: 'detach'
  readonly terms?: CallTerms
  readonly cause: Cause | null
}

/** What is asked for by name and not by an event: a call, or a slot of a schedule. It is one run or none, never part of a list. */
export interface Call {
  readonly run: RunId
  readonly input: RunInput
  readonly session: SessionId | null
  /** The schedule that asks, and is the run's parent. */
  readonly by: ScheduleId | null
  /** Who outside is told of the run's end. */
  readonly callback?: string
  /** The run whose step asks, and is the run's parent. */
  readonly parent?: CallParent
  /** Who asked, if people did. */
  readonly requesters?: readonly string[]
  /** The run has failed before: it goes on, and is not born. */
  readonly retry?: CallRetry
}

/** Who wants a run to go on, as its fact says it (model/run/fact.ts). */
export interface CallRetry {
  readonly by: string
  readonly kind: Kind
  readonly call?: string
  /** The last event of `cancel_on` before it was asked for. */
  readonly heard?: number
  /** The life that it begins: 1 is the second. */
  readonly life: number
  /** Of a run with several events: the keys of the others. */
  readonly keys?: readonly string[]
}

/** One event that passed hops and filter. Keys are texts; empty where the policy has no key. */
export interface Arrival {
  /** The event's ledger sequence: its identity. Calls are counted below zero. */
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
  /** The event's type, where events of several types come together. */
  readonly member?: string
  readonly call?: Call
  /** The trigger whose own options count for it; absent: the handler's. */
  readonly trigger?: string
}

/** An event in a candidate, with the idempotency key that it holds. */
export interface CandidateEvent {
  readonly sequence: number
  readonly key: string | null
  readonly member?: string
  readonly call?: Call
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
  /** From the second on: these events have failed in a batch before. */
  readonly attempt?: number
  readonly trigger?: string
}

export const eventOf = ({ sequence, idempotencyKey: key, call, member }: Arrival): CandidateEvent => ({
  sequence,
  key,
  ...(call === undefined ? {} : { call }),
  ...(member === undefined ? {} : { member }),
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
  ...(arrival.trigger !== undefined && { trigger: arrival.trigger }),
})

/** The candidate without this event; null without its last one. */
export const withoutEvent = (candidate: Candidate, sequence: number): Candidate | null => {
  const events = candidate.events.filter((event) => event.sequence !== sequence)
  return events.length === 0 ? null : { ...candidate, events }
}
