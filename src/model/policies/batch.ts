/**
 * Many events become one run: the first limit that is reached, of number, bytes or time, sends them off together.
 *
 * Owns the limits. An event that must not wait with others runs alone (`Arrival.alone`).
 */
import type { Gathering } from './window.ts'

export interface BatchPolicy {
  readonly maxSize: number
  readonly maxWaitMs: number
  readonly maxBytes: number
}

export const batchGathering = ({ maxSize, maxBytes, maxWaitMs }: BatchPolicy): Gathering => ({
  take: 'add',
  maxSize,
  maxBytes,
  firesAt: (openedAt) => openedAt + maxWaitMs,
})
