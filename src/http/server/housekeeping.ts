/**
 * Periodic cleanup of a serving process: forgets stored responses to keyed requests after the retention time.
 *
 * Owns the interval and the default retention. What forgetting means is engine/services/idempotency-keys.ts; if the store fails, the next
 * try is an hour later.
 */
import type { Requests } from '#engine/services/idempotency-keys.ts'

const EVERY_MS = 3_600_000
const KEPT_MS = 30 * 24 * 3_600_000

/** Runs until the server stops. Never keeps a process alive. */
export const forgetOldRequests = (
  requests: Pick<Requests, 'forgetOlderThan'>,
  ending: AbortSignal,
  retentionMs: number = KEPT_MS,
): void => {
  const sweep = (): void => void requests.forgetOlderThan(retentionMs).catch(() => 0)
  const timer = setInterval(sweep, EVERY_MS).unref()
  ending.addEventListener('abort', () => clearInterval(timer), { once: true })
}
