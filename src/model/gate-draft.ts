/**
 * A decision of a gate while it is being made: the facts so far, and the state after them.
 *
 * Owns the words in which the stages of a gate speak: record, suppress, start, stop. Never chooses between them.
 */
import type { Candidate, CandidateEvent } from './arrival.ts'
import { entriesOf, valueAt } from './due-map.ts'
import type { FlowPolicies, GateFact, OpenGate, Ruled, StopMode, SuppressReason, WaitingPlace } from './gate-fact.ts'
import { evolveOpen } from './gate-state.ts'
import type { Instant, RunId } from './ids.ts'
import type { Claim } from './policies/idempotency.ts'
import { takeTurn } from './policies/throttle.ts'

export interface Draft extends Ruled {
  state: OpenGate
  readonly facts: GateFact[]
}

export const record = (draft: Draft, fact: GateFact): void => {
  draft.facts.push(fact)
  draft.state = evolveOpen(draft.state, fact)
}

interface Reason {
  readonly reason: SuppressReason
  readonly detail: string
  readonly into?: RunId
  readonly retryAt?: Instant
}

export const suppress = (draft: Draft, { sequence, key }: CandidateEvent, why: Reason): void => {
  const { reason, detail, into = null, retryAt = null } = why
  record(draft, { type: 'trigger.suppressed', at: draft.now, sequence, reason, detail, into, retryAt, key })
}

/** Whether the gate must hear of the end of a run that starts now; `gate.started` says so to others. */
const tracksRuns = ({ overlap, idempotency }: FlowPolicies): boolean =>
  overlap !== 'allow' ||
  (idempotency !== null && (idempotency.release !== 'ttl' || idempotency.onConflict === 'replace'))

/** A key that was claimed under an earlier policy may still wait for the end of this run. */
const holdsKeys = ({ claims }: OpenGate, keys: readonly string[]): boolean =>
  keys.some((key) => valueAt(claims, key)?.expiresAt === null)

export const start = (draft: Draft, candidate: Candidate, claim: Claim | null): void => {
  const { now, policies, state } = draft
  const { run, how, cost, priority, throttleKey } = candidate
  const taken =
    policies.throttle === null ? null : takeTurn(state.throttles, policies.throttle, { key: throttleKey, cost, now })
  const keys = candidate.events.flatMap(({ key }) => key ?? [])
  record(draft, {
    type: 'gate.started',
    at: now,
    run,
    events: candidate.events.map(({ sequence }) => sequence),
    how,
    notBefore: taken === null || taken.notBefore <= now ? null : taken.notBefore,
    priority,
    tracked: tracksRuns(policies) || claim?.expiresAt === null || holdsKeys(state, keys),
    line: policies.overlap === 'allow' ? null : candidate.overlapKey,
    turn: taken?.turn ?? null,
    keys,
    claim,
  })
}

/** Said once per run and mode: one that cleans up may still be terminated. */
export const stop = (draft: Draft, run: RunId, mode: StopMode): void => {
  const wanted = valueAt(draft.state.runs, run)?.stop
  if (wanted === null || (wanted === 'cancel' && mode === 'terminate'))
    record(draft, { type: 'gate.cancel_wanted', at: draft.now, run, mode })
}

const holds = (candidate: Candidate, sequence: number): boolean =>
  candidate.events.some((event) => event.sequence === sequence)

const placeOf = ({ held, windows, lines }: OpenGate, sequence: number): WaitingPlace | null => {
  if (held.some(({ arrival }) => arrival.sequence === sequence)) return { kind: 'held' }
  const window = entriesOf(windows).find(([, { candidate }]) => holds(candidate, sequence))
  if (window !== undefined) return { kind: 'window', key: window[0] }
  const line = entriesOf(lines).find(([, { waiting }]) => waiting.some((candidate) => holds(candidate, sequence)))
  return line === undefined ? null : { kind: 'line', key: line[0] }
}

/**
 * `on_conflict: replace`: the event that held the key gives way to the one that has just found a place, bound for `run`.
 * A list that has begun goes on: the others in it have nothing to do with this key.
 */
export const replaceHolder = (draft: Draft, holder: Claim | null, run: RunId): void => {
  if (holder === null) return
  const tracked = valueAt(draft.state.runs, holder.run)
  if (tracked !== undefined) {
    if (tracked.how === 'event') stop(draft, holder.run, 'cancel')
    return
  }
  const place = placeOf(draft.state, holder.sequence)
  if (place === null) return
  record(draft, { type: 'gate.withdrawn', at: draft.now, sequence: holder.sequence, place })
  suppress(draft, holder, { reason: 'duplicate', detail: 'a newer event has the same key', into: run })
}
