/**
 * When an event may start a handler: the limits on chains of causes.
 *
 * Owns hops and re-entry. Filters are evaluated elsewhere, and flow control comes after it.
 *
 * trigger-1  A chain of machine steps stops at maxHops, and a handler occurs in one chain at most allowReentry + 1 times.
 */
import type { Cause } from './event.ts'

export interface ChainLimits {
  readonly maxHops: number
  readonly allowReentry: number
}

export const DEFAULT_MAX_HOPS = 16

export type Admission =
  | { readonly kind: 'admitted' }
  | { readonly kind: 'suppressed'; readonly reason: 'hop_limit' | 'reentry'; readonly detail: string }

/** trigger-1. */
export const admit = (cause: Cause, handler: string, limits: ChainLimits): Admission => {
  if (cause.hops > limits.maxHops) {
    return {
      kind: 'suppressed',
      reason: 'hop_limit',
      detail: `the chain of causes has ${cause.hops} hops; at most ${limits.maxHops} are allowed`,
    }
  }
  const times = cause.chain.filter((name) => name === handler).length
  if (times > limits.allowReentry) {
    return {
      kind: 'suppressed',
      reason: 'reentry',
      detail: `${handler} is already in this chain of causes: ${cause.chain.join(' > ')}`,
    }
  }
  return { kind: 'admitted' }
}

/** The cause of what a run does next: one hop further, with the name of its handler in the chain. */
export const causedBy = (cause: Cause, causationId: string, handler: string): Cause => ({
  correlationId: cause.correlationId,
  causationId,
  traceparent: cause.traceparent,
  hops: cause.hops + 1,
  chain: [...cause.chain, handler],
  ...(cause.requesters !== undefined && { requesters: cause.requesters }),
})
