/**
 * One run per key: an event holds its key on its way to a run and while the run lives; then the policy says for how long.
 *
 * Owns who holds a key and when it is free again. Scopes are part of the key's text.
 */
import { type DueMap, dropDue, put, remove, valueAt } from '#model/kernel/due-map.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'
import type { RunStatus } from '#model/run/status.ts'

export interface IdempotencyPolicy {
  readonly release: 'on_failure' | 'on_terminal' | 'ttl'
  readonly ttlMs: number
  readonly onConflict: 'return_existing' | 'reject' | 'replace'
}

export interface Claim {
  readonly key: string
  readonly sequence: number
  readonly run: RunId
  readonly claimedAt: Instant
  /** Null while the run is on its way or alive. */
  readonly expiresAt: Instant | null
}

export type Claims = DueMap<Claim>

export const claimOf = (
  policy: IdempotencyPolicy,
  { key, sequence, run, now }: { key: string; sequence: number; run: RunId; now: Instant },
): Claim => ({ key, sequence, run, claimedAt: now, expiresAt: policy.release === 'ttl' ? now + policy.ttlMs : null })

export const holderOf = (claims: Claims, key: string, now: Instant): Claim | null => {
  const claim = valueAt(claims, key)
  if (claim === undefined || (claim.expiresAt !== null && claim.expiresAt <= now)) return null
  return claim
}

export const recordClaim = (claims: Claims, claim: Claim, at: Instant): Claims =>
  put(dropDue(claims, at), claim.key, claim, claim.expiresAt)

/** Only the event that holds the key frees it: another may have taken it over. */
export const freeKey = (claims: Claims, { key, sequence }: { key: string | null; sequence: number }): Claims =>
  key !== null && valueAt(claims, key)?.sequence === sequence ? remove(claims, key) : claims

const NO_ITEMS = { freed: [], again: [], next: null }

const DID_WHAT_IT_SHOULD: ReadonlySet<RunStatus> = new Set(['success', 'partial'])

/** Returns how long after the claim an ended run keeps its keys; null: they are free at once. */
export const keepMsAfter = (policy: IdempotencyPolicy | null, status: RunStatus): number | null =>
  policy?.release === 'on_failure' && DID_WHAT_IT_SHOULD.has(status) ? policy.ttlMs : null

/**
 * Records the end of a run: its keys are free, or are kept until they expire. A key with an expiry of its own keeps that. In a batch, keys of
 * failed events are handled separately (batch-items-1).
 */
export const endClaims = (
  claims: Claims,
  {
    run,
    keys,
    keepMs,
    at,
    items = NO_ITEMS,
  }: {
    run: RunId
    keys: readonly string[]
    keepMs: number | null
    at: Instant
    items?: { readonly freed: readonly string[]; readonly again: readonly string[]; readonly next: RunId | null }
  },
): Claims => {
  const [freed, again] = [new Set(items.freed), new Set(items.again)]
  let next = claims
  for (const key of keys) {
    const claim = valueAt(next, key)
    if (claim?.run !== run || claim.expiresAt !== null) continue
    if (items.next !== null && again.has(key)) {
      next = put(next, key, { ...claim, run: items.next }, null)
      continue
    }
    const expiresAt = keepMs === null || freed.has(key) ? at : claim.claimedAt + keepMs
    next = put(next, key, { ...claim, expiresAt }, expiresAt)
  }
  return dropDue(next, at)
}
