/**
 * When a failed attempt is tried again.
 *
 * Owns the arithmetic of backoff. The roll of the dice is an argument; waiting is a fact with an instant.
 */
export interface RetryPolicy {
  /** The first try counts: 4 means three retries. */
  readonly maxAttempts: number
  readonly baseMs: number
  readonly factor: number
  readonly maxMs: number
}

export const DEFAULT_RETRY: RetryPolicy = { maxAttempts: 4, baseMs: 1_000, factor: 2, maxMs: 300_000 }

/** Full jitter: anywhere between nothing and the exponential bound. `attempt` is the one that failed, from 1. */
export const retryDelayMs = (policy: RetryPolicy, attempt: number, roll: number): number => {
  // Held finite: no base at all times an endless growth would be no number.
  const growth = Math.min(policy.factor ** (attempt - 1), Number.MAX_SAFE_INTEGER)
  return Math.floor(Math.min(policy.maxMs, policy.baseMs * growth) * roll)
}
