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

/**
 * Full jitter: anywhere between one millisecond and the exponential bound. `attempt` is the one that failed, from 1.
 * Never nothing: an instant that is already due when it is recorded would wake nobody (run-3).
 */
export const retryDelayMs = (policy: RetryPolicy, attempt: number, roll: number): number => {
  const growth = Math.min(policy.factor ** (attempt - 1), Number.MAX_SAFE_INTEGER)
  const bound = Math.min(policy.maxMs, policy.baseMs * growth)
  return Math.max(1, Math.floor(bound * roll))
}
