/**
 * The result of flow control for a call or an event, for the caller who received a receipt.
 *
 * Owns which documents a decision of a gate writes in addition to its facts. gate.ts makes the decision.
 *
 * flow-outcome-1  A run id that a caller received is a run, or has a document here, without a gap from the append that returned it.
 * flow-outcome-2  An event that starts no run of its own has a document with the reason, or with the run that includes it.
 */
import type { Instant, RunId } from '#model/kernel/ids.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type { GateFact, SuppressReason } from './gate-fact.ts'

/** By run id: runs that are promised and do not exist yet, and promises that were not kept. */
export const QUEUED_TABLE = 'trihand.queued'
/** By event and handler (`outcomeKey`): why an event started no run of its own. */
export const OUTCOME_TABLE = 'trihand.outcome'

/** `paused`: its handler is paused. `overlap`: another run has to end first. */
export type QueuedReason = 'paused' | 'overlap'

export type QueuedRun =
  | { readonly state: 'queued'; readonly handler: string; readonly reason: QueuedReason; readonly since: Instant }
  /** It will never be a run. */
  | { readonly state: 'dropped'; readonly handler: string; readonly code: string; readonly message: string }

/** `joined`: it is part of the input of a run that other events started. */
export type OutcomeReason = SuppressReason | 'joined'

export interface FlowOutcome {
  readonly reason: OutcomeReason
  readonly detail: string
  /** The run that includes the event, or that prevented its run. */
  readonly run: RunId | null
}

/** `12/` sorts before `120/`: the outcomes of one event are next to each other. */
export const outcomePrefix = (sequence: number): string => `${sequence}/`
export const outcomeKey = (sequence: number, handler: string): string => `${outcomePrefix(sequence)}${handler}`

/** Returns calls that begin to wait, with the reason, and calls that no longer wait (null). */
export const queueChanges = (facts: readonly GateFact[]): ReadonlyMap<RunId, QueuedReason | null> => {
  const asked = new Set(facts.flatMap((fact) => (fact.type === 'gate.asked' ? [-fact.number] : [])))
  const changes = new Map<RunId, QueuedReason | null>()
  for (const fact of facts) {
    if (fact.type === 'gate.held' && fact.arrival.call !== undefined) changes.set(fact.arrival.call.run, 'paused')
    const waiting = fact.type === 'gate.buffered' ? fact.candidate.events[0]?.call : undefined
    if (waiting !== undefined) changes.set(waiting.run, 'overlap')
    if (fact.type !== 'gate.started' && fact.type !== 'trigger.suppressed') continue
    const sequence = fact.type === 'gate.started' ? fact.events[0] : fact.sequence
    // A call that was made in this decision has never waited.
    if (fact.call !== undefined && sequence !== undefined && !asked.has(sequence)) changes.set(fact.call.run, null)
  }
  return changes
}

/** flow-outcome-2. A retry of a batch changes nothing: its events have their outcome already. */
export const eventOutcomes = (facts: readonly GateFact[]): ReadonlyMap<number, FlowOutcome> => {
  const outcomes = new Map<number, FlowOutcome>()
  for (const fact of facts) {
    if (fact.type === 'trigger.suppressed' && fact.call === undefined)
      outcomes.set(fact.sequence, { reason: fact.reason, detail: fact.detail, run: fact.into })
    if (fact.type !== 'gate.started' || fact.call !== undefined || fact.attempt !== undefined) continue
    // The last event is the one that the run names as its trigger.
    for (const sequence of fact.events.slice(0, -1))
      outcomes.set(sequence, { reason: 'joined', detail: 'it is one of several events of a run', run: fact.run })
  }
  return outcomes
}

type Suppressed = Extract<GateFact, { readonly type: 'trigger.suppressed' }>

/** Returns events that waited with a key and will start nothing: a caller with the same key may have received the id of their run. */
export const brokenPromises = (facts: readonly GateFact[]): readonly Suppressed[] => {
  const withdrawn = new Set(facts.flatMap((fact) => (fact.type === 'gate.withdrawn' ? [fact.sequence] : [])))
  const isDisplaced = ({ reason, into }: Suppressed): boolean => reason === 'overlap' && into !== null
  return facts.filter(
    (fact): fact is Suppressed =>
      fact.type === 'trigger.suppressed' &&
      fact.call === undefined &&
      fact.key !== null &&
      (withdrawn.has(fact.sequence) || isDisplaced(fact)),
  )
}

export const readQueued = (value: Json | null): QueuedRun | null =>
  isJsonRecord(value) ? (value as unknown as QueuedRun) : null

export const readOutcome = (value: Json | null): FlowOutcome | null =>
  isJsonRecord(value) ? (value as unknown as FlowOutcome) : null
