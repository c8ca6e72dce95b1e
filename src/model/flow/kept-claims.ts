/**
 * Idempotency keys whose expiry is known, outside of the gate's state: documents that are found by the key, so that a gate with very many kept
 * keys is as cheap to read as one with none.
 *
 * Owns which claims leave the state and how they come back into it for a decision. The rules of keys are in policies/idempotency.ts.
 *
 * kept-claims-1  A claim is in the state or in a document of its key, never in neither, until it expires or its key is free.
 * kept-claims-2  Only a claim with a known expiry leaves the state, and only when its event no longer waits: it ends only by time, or by another
 *                claim of the key.
 */
import type { Claim } from '#model/flow/policies/idempotency.ts'
import { entriesOf, put, valueAt } from '#model/kernel/due-map.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type { GateFact, GateState, OpenGate } from './gate-fact.ts'

/** By gate and key (`keptKey`): claims that have left the state of their gate. */
export const KEPT_TABLE = 'trihand.key'

/** The maximum that leaves at once: all claims of a gate that is older than the documents have to leave. */
const MOST_AT_ONCE = 1_000

/** Keys may have any length and may be private: their digest is stored instead. */
export const keptKey = (gate: string, digest: string): string => `${gate}/${digest}`

const waitingSequences = ({ held, windows, lines }: OpenGate): ReadonlySet<number> =>
  new Set([
    ...held.map(({ arrival }) => arrival.sequence),
    ...entriesOf(windows).flatMap(([, { candidate }]) => candidate.events.map(({ sequence }) => sequence)),
    ...entriesOf(lines).flatMap(([, { waiting }]) =>
      waiting.flatMap(({ events }) => events.map(({ sequence }) => sequence)),
    ),
  ])

/** kept-claims-2. `isRecalled`: claims that have their documents already leave in any case. */
export const claimsToKeep = (
  state: OpenGate,
  now: Instant,
  isRecalled: (claim: Claim) => boolean = () => false,
): readonly Claim[] => {
  const waiting = waitingSequences(state)
  const claims = entriesOf(state.claims)
    .map(([, claim]) => claim)
    .filter(({ sequence, expiresAt }) => expiresAt !== null && expiresAt > now && !waiting.has(sequence))
  const fresh = claims.filter((claim) => !isRecalled(claim)).slice(0, MOST_AT_ONCE)
  return [...claims.filter(isRecalled), ...fresh]
}

export const keptValue = ({ sequence, run, claimedAt, expiresAt }: Claim): Json => ({
  sequence,
  run,
  claimedAt,
  expiresAt,
})

/** Null: there is no claim, or it has expired. */
export const readKept = (key: string, value: Json | null, now: Instant): Claim | null => {
  if (!isJsonRecord(value)) return null
  const { sequence, run, claimedAt, expiresAt } = value
  if (typeof expiresAt !== 'number' || expiresAt <= now) return null
  return { key, sequence: sequence as number, run: run as RunId, claimedAt: claimedAt as Instant, expiresAt }
}

/** Returns the keys that a decision must know and the state does not contain. */
export const missingKeys = (state: GateState, keys: readonly string[]): readonly string[] =>
  state.kind === 'none' ? [] : [...new Set(keys)].filter((key) => valueAt(state.claims, key) === undefined)

/** Returns the state with these claims in it, for a decision. It is not stored: the claims still have their documents. */
export const withRecalled = (state: GateState, claims: readonly Claim[]): GateState => {
  if (state.kind === 'none' || claims.length === 0) return state
  return { ...state, claims: claims.reduce((all, claim) => put(all, claim.key, claim, claim.expiresAt), state.claims) }
}

/** Returns the keys that these facts claim. */
export const claimedKeys = (facts: readonly GateFact[]): readonly string[] =>
  facts.flatMap((fact) => ('claim' in fact && fact.claim !== null ? [fact.claim.key] : []))
