/**
 * What a serving process puts away now and then: answers to requests with a key that are older than anybody asks for.
 *
 * Owns the hour and the usual time they are kept. What forgetting means is engine/services/idempotency-keys.ts; a store in trouble is asked again an hour
 * later.
 */
import type { Requests } from '#engine/services/idempotency-keys.ts'

const EVERY_MS = 3_600_000
const KEPT_MS = 30 * 24 * 3_600_000

/** Until the server stops. Never keeps a process alive. */
export const forgetOldRequests = (
  requests: Pick<Requests, 'forgetOlderThan'>,
  ending: AbortSignal,
  retentionMs: number = KEPT_MS,
): void => {
  const sweep = (): void => void requests.forgetOlderThan(retentionMs).catch(() => 0)
  const timer = setInterval(sweep, EVERY_MS).unref()
  ending.addEventListener('abort', () => clearInterval(timer), { once: true })
}
