/**
 * Brings the policies of a gate from what an author writes to the normal form: data only.
 *
 * Owns their defaults and ranges. What a policy does is model/policies/.
 */
import { checkName } from '#manifest/define/invalid.ts'
import { bytesWithin, durationWithin, invalidAt, oneOf, wholeNumber } from '#manifest/expressions/ranges.ts'
import { isEventType } from '#model/event/event.ts'
import type { FlowPolicies } from '#model/flow/gate-fact.ts'
import type { FanInPolicy } from '#model/flow/policies/fan-in.ts'
import {
  BATCH_OUTPUTS,
  type BudgetSource,
  COLLECTS,
  CONFLICTS,
  type FlowSource,
  IDEMPOTENCY_SCOPES,
  MODES,
  OVERLAPS,
  PAUSES,
  RELEASES,
} from '#model/flow/policies/flow-source.ts'
import type { RetryPolicy } from '#model/flow/policies/retry.ts'
import type { ThrottlePolicy } from '#model/flow/policies/throttle.ts'
import { TrihandError } from '#model/kernel/errors.ts'

const MAX_BATCH = 1_000
const MAX_BYTES = 10 * 1024 * 1024
const DEFAULT_MAX_WAIT_PERIODS = 10
const LONGEST = '3650d'
const LIMIT = { min: 1, max: 10_000 }

const idempotencyOf = (path: string, source: FlowSource['idempotency']): FlowPolicies['idempotency'] => {
  if (source === undefined) return null
  const { scope = 'handler', release = 'on_failure', ttl = '30d', onConflict = 'return_existing' } = source
  if (['session', 'global'].includes(scope))
    throw invalidAt(
      `${path}.scope`,
      `keys belong to one handler, so ${scope} has no effect; put what distinguishes the runs into the key`,
    )
  oneOf(`${path}.scope`, scope, IDEMPOTENCY_SCOPES)
  return {
    release: oneOf(`${path}.release`, release, RELEASES),
    ttlMs: durationWithin(`${path}.ttl`, ttl, { min: '1ms', max: LONGEST }),
    onConflict: oneOf(`${path}.onConflict`, onConflict, CONFLICTS),
  }
}

const rateLimitOf = (path: string, source: FlowSource['rateLimit']): FlowPolicies['rateLimit'] =>
  source === undefined
    ? null
    : {
        limit: wholeNumber(`${path}.limit`, source.limit, LIMIT),
        periodMs: durationWithin(`${path}.period`, source.period, { min: '1s', max: '30d' }),
      }

const debounceOf = (path: string, source: FlowSource['debounce']): FlowPolicies['debounce'] => {
  if (source === undefined) return null
  const periodMs = durationWithin(`${path}.period`, source.period, { min: '100ms', max: '7d' })
  const { mode = 'trailing', maxWait = periodMs * DEFAULT_MAX_WAIT_PERIODS } = source
  return {
    periodMs,
    mode: oneOf(`${path}.mode`, mode, MODES),
    maxWaitMs:
      maxWait === 'none' ? null : durationWithin(`${path}.maxWait`, maxWait, { min: `${periodMs}ms`, max: LONGEST }),
  }
}

const batchOf = (path: string, source: FlowSource['batch'], retry: RetryPolicy): FlowPolicies['batch'] => {
  if (source === undefined) return null
  const { maxSize = 100, maxWait = '5s', maxBytes = MAX_BYTES, outputs } = source
  return {
    maxSize: wholeNumber(`${path}.maxSize`, maxSize, { min: 1, max: MAX_BATCH }),
    maxWaitMs: durationWithin(`${path}.maxWait`, maxWait, { min: '1ms', max: '7d' }),
    maxBytes: bytesWithin(`${path}.maxBytes`, maxBytes, { min: 1, max: MAX_BYTES }),
    outputs: outputs === undefined ? null : oneOf(`${path}.outputs`, outputs, BATCH_OUTPUTS),
    retry,
  }
}

export type SharedBudgets = ReadonlyMap<string, ThrottlePolicy>

const budgetOf = (path: string, { limit, period, burst = 1 }: BudgetSource): ThrottlePolicy => ({
  limit: wholeNumber(`${path}.limit`, limit, LIMIT),
  periodMs: durationWithin(`${path}.period`, period, { min: '1s', max: '7d' }),
  burst: wholeNumber(`${path}.burst`, burst, LIMIT),
})

export const defineBudgets = (sources: Readonly<Record<string, BudgetSource>>): SharedBudgets =>
  new Map(
    Object.entries(sources).map(([name, source]) => {
      checkName(name, `limits.shared.${name}`)
      return [name, { ...budgetOf(`limits.shared.${name}`, source), shared: name }]
    }),
  )

const throttleOf = (path: string, source: FlowSource['throttle'], budgets: SharedBudgets): FlowPolicies['throttle'] => {
  if (source === undefined) return null
  const { cost = 1 } = source
  const policy = 'shared' in source ? budgets.get(source.shared) : budgetOf(path, source)
  if (policy === undefined) {
    const known = [...budgets.keys()].join(', ') || 'none'
    throw invalidAt(`${path}.shared`, `limits.shared has no such entry; it has ${known}`)
  }
  if (typeof cost === 'number' && cost > policy.limit)
    throw new TrihandError('COST_TOO_HIGH', `${path}.cost: ${cost} is more than the limit of ${policy.limit}`, {
      place: { path: `${path}.cost` },
    })
  return policy
}

/** What a handler's flow control needs to know about its surroundings. */
export interface FlowSurroundings {
  readonly retry: RetryPolicy
  readonly budgets: SharedBudgets
}

const DEFAULT_TIMEOUT = '1d'
const TIMEOUT = { min: '1s', max: '365d' }

const fanInOf = (path: string, source: NonNullable<FlowSource['fanIn']>): FanInPolicy => {
  const { primary, waitFor, timeout = DEFAULT_TIMEOUT, collect = 'first' } = source
  const types = [...new Set([primary, ...waitFor])]
  for (const type of types) if (!isEventType(type)) throw invalidAt(path, `"${type}" is not an event type`)
  if (types.length < 2) throw invalidAt(`${path}.waitFor`, 'expected at least one event besides the primary one')
  return {
    primary,
    types,
    timeoutMs: durationWithin(`${path}.timeout`, timeout, TIMEOUT),
    collect: oneOf(`${path}.collect`, collect, COLLECTS),
  }
}

export const policiesOf = (path: string, source: FlowSource, { retry, budgets }: FlowSurroundings): FlowPolicies => ({
  idempotency: idempotencyOf(`${path}.idempotency`, source.idempotency),
  whilePaused: oneOf(`${path}.whilePaused`, source.whilePaused ?? 'suppress', PAUSES),
  rateLimit: rateLimitOf(`${path}.rateLimit`, source.rateLimit),
  debounce: debounceOf(`${path}.debounce`, source.debounce),
  batch: batchOf(`${path}.batch`, source.batch, retry),
  overlap: oneOf(`${path}.overlap`, source.overlap ?? 'allow', OVERLAPS),
  throttle: throttleOf(`${path}.throttle`, source.throttle, budgets),
  ...(source.fanIn === undefined ? {} : { fanIn: fanInOf(`${path}.fanIn`, source.fanIn) }),
})
