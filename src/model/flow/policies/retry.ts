/**
 * Decides when a failed attempt is retried.
 *
 * Owns the arithmetic of back-off. The random number (`roll`) is an argument; waiting is a fact with an instant.
 */
export interface RetryPolicy {
  /** Includes the first attempt: 4 means three retries. */
  readonly maxAttempts: number
  readonly baseMs: number
  readonly factor: number
  readonly maxMs: number
}

export const DEFAULT_RETRY: RetryPolicy = { maxAttempts: 4, baseMs: 1_000, factor: 2, maxMs: 300_000 }

/** Full jitter: between zero and the exponential bound. `attempt` is the one that failed, from 1. */
export const retryDelayMs = (policy: RetryPolicy, attempt: number, roll: number): number => {
  // Kept finite: a base of 0 times infinity would be NaN.
  const growth = Math.min(policy.factor ** (attempt - 1), Number.MAX_SAFE_INTEGER)
  return Math.floor(Math.min(policy.maxMs, policy.baseMs * growth) * roll)
}
