/** The flow control of a gate whose handler has none any more: no policy applies. */
import type { FlowDefinition } from '#manifest/flow/flow.ts'

/** For a gate that is left over: entries that wait in it continue, nothing new enters. */
export const OPEN_FLOW: FlowDefinition = {
  policies: {
    idempotency: null,
    whilePaused: 'suppress',
    rateLimit: null,
    debounce: null,
    batch: null,
    overlap: 'allow',
    throttle: null,
  },
  rules: {
    idempotencyKey: null,
    rateKey: null,
    windowKey: null,
    overlapKey: null,
    throttleKey: null,
    cost: null,
    priority: null,
    alone: null,
  },
  concurrency: [],
  fairness: null,
  isStateful: true,
  ofTriggers: new Map(),
}
