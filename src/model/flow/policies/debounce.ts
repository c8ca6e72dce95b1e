/**
 * A burst becomes one run: of its newest event when it is over, of its first at once, or of all of them together.
 *
 * Owns how long a burst lasts: until a period without new events, or until maxWait after it began.
 */
import type { DueMap } from '#model/kernel/due-map.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'
import type { Gathering } from './window.ts'

export interface DebouncePolicy {
  readonly periodMs: number
  readonly mode: 'trailing' | 'leading' | 'collect'
  readonly maxWaitMs: number | null
}

/** A burst whose first event has its run already. Falls due when the burst is over. */
export interface Burst {
  readonly run: RunId
  readonly openedAt: Instant
}

export type Bursts = DueMap<Burst>

const COLLECT_MAX_SIZE = 1_000
const COLLECT_MAX_BYTES = 10 * 1024 * 1024

export const burstEndsAt = (policy: DebouncePolicy, openedAt: Instant, now: Instant): Instant => {
  const quietAt = now + policy.periodMs
  return policy.maxWaitMs === null ? quietAt : Math.min(quietAt, openedAt + policy.maxWaitMs)
}

/** For the modes trailing and collect; a leading burst gathers nothing. */
export const debounceGathering = (policy: DebouncePolicy): Gathering => {
  const collects = policy.mode === 'collect'
  return {
    take: collects ? 'add' : 'replace',
    maxSize: collects ? COLLECT_MAX_SIZE : Number.POSITIVE_INFINITY,
    maxBytes: collects ? COLLECT_MAX_BYTES : Number.POSITIVE_INFINITY,
    firesAt: (openedAt, now) => burstEndsAt(policy, openedAt, now),
  }
}
