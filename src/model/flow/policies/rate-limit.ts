/**
 * At most `limit` events in any period: an exact sliding window per key. An event over the limit is suppressed, with the instant when it may be
 * retried.
 *
 * Owns the window. Never looks at a clock: the instant is an argument.
 */
import { type DueMap, dropDue, put, valueAt } from '#model/kernel/due-map.ts'
import type { Instant } from '#model/kernel/ids.ts'

export interface RateLimitPolicy {
  readonly limit: number
  readonly periodMs: number
}

/** For each key, the instants of events that passed and still count, in order. Falls due when the last of them no longer counts. */
export type RateState = DueMap<readonly Instant[]>

export type RateVerdict =
  | { readonly kind: 'pass'; readonly countsUntil: Instant }
  | { readonly kind: 'over'; readonly retryAt: Instant }

export const judgeRate = (state: RateState, policy: RateLimitPolicy, key: string, now: Instant): RateVerdict => {
  const counting = (valueAt(state, key) ?? []).filter((at) => at > now - policy.periodMs)
  if (counting.length < policy.limit) return { kind: 'pass', countsUntil: now + policy.periodMs }
  // Room for one more appears when all but limit - 1 of them have left the window.
  const leaving = counting[counting.length - policy.limit] ?? now
  return { kind: 'over', retryAt: leaving + policy.periodMs }
}

/** Counts an event that passed at `at`. Forgets instants that no longer count, of this key and of all others. */
export const countRate = (state: RateState, key: string, at: Instant, countsUntil: Instant): RateState => {
  const counting = (valueAt(state, key) ?? []).filter((instant) => instant > at - (countsUntil - at))
  // In order even after a clock was set back.
  const place = counting.findLastIndex((instant) => instant <= at) + 1
  const dueAt = Math.max(countsUntil, (counting.at(-1) ?? at) + (countsUntil - at))
  return put(dropDue(state, at), key, counting.toSpliced(place, 0, at), dueAt)
}
