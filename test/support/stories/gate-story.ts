/**
 * Arrivals, policies and run names for the tests of gates and their policies.
 *
 * Owns the defaults of a test: an arrival without keys, a handler without policies.
 */
import type { Arrival } from '#model/event/arrival.ts'
import type { FlowPolicies } from '#model/flow/gate-fact.ts'
import { type RunId, runId } from '#model/kernel/ids.ts'

export const runOf = (sequence: number): RunId => runId(sequence.toString(16).padStart(32, '0'))

export const anArrival = (sequence: number, given: Partial<Arrival> = {}): Arrival => ({
  sequence,
  time: sequence,
  bytes: 10,
  idempotencyKey: null,
  rateKey: '',
  windowKey: '',
  overlapKey: '',
  throttleKey: '',
  cost: 1,
  priority: 0,
  alone: false,
  ...given,
})

export const policiesWith = (given: Partial<FlowPolicies>): FlowPolicies => ({
  idempotency: null,
  whilePaused: 'suppress',
  rateLimit: null,
  debounce: null,
  batch: null,
  overlap: 'allow',
  throttle: null,
  ...given,
})
