/**
 * An event on its way to a run, in two shapes: as it arrives at a gate, and as the run that it will become.
 *
 * Owns the two shapes. The gate decides which policies apply to them.
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
  /** The runs above it, as far as one of them may block the call. */
  readonly above?: readonly RunId[]
  readonly onParentEnd?: 'detach'
  readonly terms?: CallTerms
  readonly cause: Cause | null
}

/** A start by name instead of by event: a call, or a slot of a schedule. It becomes one run or none, never part of a list. */
export interface Call {
  readonly run: RunId
  readonly input: RunInput
  readonly session: SessionId | null
  /** The schedule that starts the run, and is its parent. */
  readonly by: ScheduleId | null
  /** The address outside that is notified of the run's end. */
  readonly callback?: string
  /** The run whose step makes the call, and is the new run's parent. */
  readonly parent?: CallParent
  /** The people who asked for it, if any. */
  readonly requesters?: readonly string[]
  /** The run has failed before: it is retried, not created. */
  readonly retry?: CallRetry
}

/** The request to retry a run, with the members of its fact (model/run/fact.ts). */
export interface CallRetry {
  readonly by: string
  readonly kind: Kind
  readonly call?: string
  /** The sequence of the last `cancel_on` event before the request. */
  readonly heard?: number
  /** How many times the run has been retried, this time included. */
  readonly life: number
  /** For a run with several events: the idempotency keys of the others. */
  readonly keys?: readonly string[]
}

/** One event that passed the limits on hops and the filter. Keys are texts; empty if the policy has no key. */
export interface Arrival {
  /** The sequence of the event in the ledger, which identifies it. Calls are numbered below zero. */
  readonly sequence: number
  readonly time: Instant
  readonly bytes: number
  readonly idempotencyKey: string | null
  readonly rateKey: string
  /** The key of debounce or batch. */
  readonly windowKey: string
  readonly overlapKey: string
  readonly throttleKey: string
  readonly cost: number
  /** Seconds. */
  readonly priority: number
  /** `batch.if` was false: the event starts a run of its own at once. */
  readonly alone: boolean
  /** The type of the event, if the policy collects events of several types. */
  readonly member?: string
  readonly call?: Call
  /** The trigger whose own options apply to it; absent: the options of the handler. */
  readonly trigger?: string
}

/** An event in a candidate, with the idempotency key that it occupies. */
export interface CandidateEvent {
  readonly sequence: number
  readonly key: string | null
  readonly member?: string
  readonly call?: Call
}

/** A run that may start. The event that began it fixes the id, whichever events join or replace that event later. */
export interface Candidate {
  readonly run: RunId
  readonly events: readonly CandidateEvent[]
  /** The input of the handler: one event, or a list. */
  readonly how: 'event' | 'events'
  readonly overlapKey: string
  readonly throttleKey: string
  readonly cost: number
  readonly priority: number
  /** Set from the second attempt on: these events have failed in a batch before. */
  readonly attempt?: number
  readonly trigger?: string
}

export const eventOf = ({ sequence, idempotencyKey: key, call, member }: Arrival): CandidateEvent => ({
  sequence,
  key,
  ...(call === undefined ? {} : { call }),
  ...(member === undefined ? {} : { member }),
})

/** In a list the first event sets the keys, the cost and the priority. */
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

/** Returns the candidate without this event; null if it was the last one. */
export const withoutEvent = (candidate: Candidate, sequence: number): Candidate | null => {
  const events = candidate.events.filter((event) => event.sequence !== sequence)
  return events.length === 0 ? null : { ...candidate, events }
}
