/**
 * A decision of a gate in progress: the facts so far, and the state after them.
 *
 * Owns the operations of a gate's stages: record, suppress, start, stop. Never chooses between them.
 */
import type { Arrival, Candidate, CandidateEvent } from '#model/event/arrival.ts'
import type { Claim } from '#model/flow/policies/idempotency.ts'
import { recordTurn, type ThrottleState, takeTurn } from '#model/flow/policies/throttle.ts'
import { valueAt } from '#model/kernel/due-map.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'
import type { FlowPolicies, GateFact, OpenGate, Ruled, StopMode, SuppressReason } from './gate-fact.ts'
import { isFollowed } from './gate-follow.ts'
import { waiterOf } from './gate-read.ts'
import { evolveOpen } from './gate-state.ts'

export interface Draft extends Omit<Ruled, 'shared'> {
  state: OpenGate
  shared: ThrottleState
  readonly facts: GateFact[]
}

export const draftOf = (
  state: OpenGate,
  { now, policies, runOf, shared = [], ofTriggers = new Map() }: Ruled,
): Draft => ({
  state,
  ofTriggers,
  shared,
  facts: [],
  now,
  policies,
  runOf,
})

export const record = (draft: Draft, fact: GateFact): void => {
  draft.facts.push(fact)
  draft.state = evolveOpen(draft.state, fact)
}

interface Reason {
  readonly reason: SuppressReason
  readonly detail: string
  readonly into?: RunId
  readonly retryAt?: Instant
  readonly promised?: RunId
}

/** Returns the policies for events of this trigger. If the trigger no longer exists, the handler's own apply. */
export const policiesFor = (
  { policies, ofTriggers }: Draft,
  { trigger }: { readonly trigger?: string },
): FlowPolicies => (trigger === undefined ? undefined : ofTriggers?.get(trigger)) ?? policies

/** Returns the run that this arrival would start. A call names its own. */
export const runFor = ({ runOf }: Draft, { sequence, call }: Arrival): RunId => call?.run ?? runOf(sequence)

export const suppress = (draft: Draft, { sequence, key, call }: CandidateEvent, why: Reason): void => {
  const { reason, detail, into = null, retryAt = null, promised } = why
  const fact = { type: 'trigger.suppressed', at: draft.now, sequence, reason, detail, into, retryAt, key } as const
  record(draft, { ...fact, ...(call !== undefined && { call }), ...(promised !== undefined && { promised }) })
}

/** Returns whether the gate must be notified of the end of a run that starts now; `gate.started` records it. */
const tracksRuns = ({ overlap, idempotency, batch }: FlowPolicies): boolean =>
  overlap !== 'allow' ||
  (batch?.retry !== undefined && batch.outputs !== 'shared') ||
  (idempotency !== null && (idempotency.release !== 'ttl' || idempotency.onConflict === 'replace'))

/** A key that was claimed under an earlier policy may still wait for the end of this run. */
const holdsKeys = ({ claims }: OpenGate, keys: readonly string[]): boolean =>
  keys.some((key) => valueAt(claims, key)?.expiresAt === null)

export const start = (draft: Draft, candidate: Candidate, claim: Claim | null): void => {
  const { now, state } = draft
  const policies = policiesFor(draft, candidate)
  const { run, how, cost, priority, throttleKey, attempt, trigger } = candidate
  const isShared = policies.throttle?.shared !== undefined
  const budget = isShared ? draft.shared : state.throttles
  const taken = policies.throttle === null ? null : takeTurn(budget, policies.throttle, { key: throttleKey, cost, now })
  if (isShared && taken !== null) draft.shared = recordTurn(budget, taken.turn, now)
  const keys = candidate.events.flatMap(({ key }) => key ?? [])
  const call = candidate.events[0]?.call
  record(draft, {
    ...(call !== undefined && { call }),
    ...(attempt !== undefined && { attempt }),
    ...(trigger !== undefined && { trigger }),
    ...(taken !== null && cost !== 1 && { cost }),
    type: 'gate.started',
    at: now,
    run,
    events: candidate.events.map(({ sequence }) => sequence),
    how,
    notBefore: taken === null || taken.notBefore <= now ? null : taken.notBefore,
    priority,
    tracked: tracksRuns(policies) || claim?.expiresAt === null || holdsKeys(state, keys) || isFollowed(state, run),
    line: policies.overlap === 'allow' ? null : candidate.overlapKey,
    turn: isShared ? null : (taken?.turn ?? null),
    ...(isShared && taken !== null && { sharedTurn: taken.turn }),
    keys,
    claim,
  })
}

/** Recorded once per run and mode: a run that cleans up may still be terminated. */
export const stop = (draft: Draft, run: RunId, mode: StopMode): void => {
  const wanted = valueAt(draft.state.runs, run)?.stop
  if (wanted === null || (wanted === 'cancel' && mode === 'terminate'))
    record(draft, { type: 'gate.cancel_wanted', at: draft.now, run, mode })
}

/**
 * `on_conflict: replace`: withdraws or cancels the event that held the key in favour of the one that has just found a place, for `run`.
 * A run of several events continues if it has started: its other events have nothing to do with this key.
 */
export const replaceHolder = (draft: Draft, holder: Claim | null, run: RunId): void => {
  if (holder === null) return
  const tracked = valueAt(draft.state.runs, holder.run)
  if (tracked !== undefined) {
    if (tracked.how === 'event') stop(draft, holder.run, 'cancel')
    return
  }
  const waiter = waiterOf(draft.state, ({ sequence }) => sequence === holder.sequence)
  if (waiter === null) return
  record(draft, { type: 'gate.withdrawn', at: draft.now, sequence: holder.sequence, place: waiter.place })
  suppress(draft, waiter.event, { reason: 'duplicate', detail: 'a newer event has the same key', into: run })
}
