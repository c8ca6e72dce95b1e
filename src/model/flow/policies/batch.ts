/**
 * Many events become one run: the first limit that is reached, of number, bytes or time, starts it.
 *
 * Owns the limits. An event that must not wait with others runs alone (`Arrival.alone`).
 */
import type { BatchOutputs } from './batch-outcome.ts'
import type { RetryPolicy } from './retry.ts'
import type { Gathering } from './window.ts'

export interface BatchPolicy {
  readonly maxSize: number
  readonly maxWaitMs: number
  readonly maxBytes: number
  readonly outputs?: BatchOutputs
  /** How often failed events are retried, in a run of their own. Absent: never. */
  readonly retry?: RetryPolicy
}

export const batchGathering = ({ maxSize, maxBytes, maxWaitMs }: BatchPolicy): Gathering => ({
  take: 'add',
  maxSize,
  maxBytes,
  firesAt: (openedAt) => openedAt + maxWaitMs,
})
