/**
 * The pauses before the retries of a failed attempt. model/run/attempt.ts decides if there is a retry.
 *
 * Owns the arithmetic of back-off. The random number (`roll`) is an argument; waiting is a fact with an instant.
 */
/** When a failed attempt is repeated: `{ maxAttempts: 6, baseMs: 500 }`. Default: 4 attempts, from 1 s on twice as long each, at most 5 min. */
export interface RetryPolicy {
  /** How many attempts there are, with the first: 4 means three retries. */
  readonly maxAttempts: number
  /** The longest pause before the first retry, in milliseconds; the pause is drawn below it. */
  readonly baseMs: number
  /** How much longer each pause may be than the one before. */
  readonly factor: number
  /** The longest pause of all, in milliseconds. */
  readonly maxMs: number
}

export const DEFAULT_RETRY: RetryPolicy = { maxAttempts: 4, baseMs: 1_000, factor: 2, maxMs: 300_000 }

/** Full jitter: between zero and the exponential bound. `attempt` is the one that failed, from 1. */
export const retryDelayMs = (policy: RetryPolicy, attempt: number, roll: number): number => {
  // Kept finite: a base of 0 times infinity would be NaN.
  const growth = Math.min(policy.factor ** (attempt - 1), Number.MAX_SAFE_INTEGER)
  return Math.floor(Math.min(policy.maxMs, policy.baseMs * growth) * roll)
}
