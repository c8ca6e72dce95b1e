/**
 * Brings flow control from what an author writes to the normal form: policies as data, expressions as compiled rules.
 *
 * Owns the rules, concurrency, and which policies exclude each other. Never evaluates a rule: the engine does.
 */
import { invalidAt, oneOf, ruleAt, wholeNumber } from '#manifest/expressions/ranges.ts'
import type { FlowPolicies } from '#model/flow/gate-fact.ts'
import { MAX_PRIORITY } from '#model/flow/lane.ts'
import {
  CONCURRENCY_SCOPES,
  type ConcurrencySource,
  type FlowSource,
  ON_LIMITS,
  TRIGGER_OPTIONS,
  type TriggerFlowSource,
  UNITS,
} from '#model/flow/policies/flow-source.ts'
import { DEFAULT_RETRY } from '#model/flow/policies/retry.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Rule } from '#model/kernel/rule.ts'
import { type FlowSurroundings, policiesOf } from './policies.ts'

export interface FlowRules {
  readonly idempotencyKey: Rule | null
  readonly rateKey: Rule | null
  /** The key of a debounce or a batch. */
  readonly windowKey: Rule | null
  readonly overlapKey: Rule | null
  readonly throttleKey: Rule | null
  /** Null: 1. */
  readonly cost: Rule | null
  /** Null: 0. */
  readonly priority: Rule | null
  /** True: the event does not wait for a batch. */
  readonly alone: Rule | null
}

export interface Concurrency {
  readonly scope: (typeof CONCURRENCY_SCOPES)[number]
  readonly key: Rule | null
  readonly limit: number
  /** The limit for all keys together; null: only each key is limited. */
  readonly total: number | null
  readonly weight: number
  readonly unit: (typeof UNITS)[number]
}

export interface FlowDefinition {
  readonly policies: FlowPolicies
  readonly rules: FlowRules
  readonly concurrency: readonly Concurrency[]
  readonly fairness: { readonly key: Rule; readonly weight: Rule | null } | null
  /** A gate is needed, because some policy remembers earlier events. */
  readonly isStateful: boolean
  /** Triggers with their own options, by the trigger name that their events carry. */
  readonly ofTriggers: ReadonlyMap<string, TriggerFlow>
}

/** The handler's flow control, with the options of one trigger overriding it. */
export interface TriggerFlow extends Pick<FlowDefinition, 'policies' | 'rules'> {
  /** The options that are the trigger's own, and so are counted separately from the handler's. */
  readonly owns: readonly (typeof TRIGGER_OPTIONS)[number][]
}

/** A trigger with its own options. */
export interface NamedTriggerFlow {
  readonly name: string
  readonly own: TriggerFlowSource
}

const ownOptions = (own: TriggerFlowSource): TriggerFlow['owns'] =>
  TRIGGER_OPTIONS.filter((option) => own[option] !== undefined)

export const hasOwnFlow = (own: TriggerFlowSource): boolean => ownOptions(own).length > 0

const MAX_CONCURRENCY = 8
const LIMIT = { min: 1, max: 10_000 }

const ruleOrNull = (path: string, text: string | undefined): Rule | null =>
  text === undefined ? null : ruleAt(path, text)

/** A constant is checked now, an expression each time it is evaluated. */
const numberRule = (
  path: string,
  given: number | string | undefined,
  check: (value: number) => number,
): Rule | null => {
  if (typeof given !== 'number') return ruleOrNull(path, given)
  const value = check(given)
  return () => ({ kind: 'value', value })
}

const costAt =
  (path: string) =>
  (cost: number): number => {
    if (!(cost > 0)) throw invalidAt(path, `${cost} is not a number above 0`)
    return cost
  }

const priorityAt =
  (path: string) =>
  (priority: number): number => {
    if (!(Math.abs(priority) <= MAX_PRIORITY))
      throw invalidAt(path, `${priority} is not a number of seconds from -${MAX_PRIORITY} to ${MAX_PRIORITY}`)
    return priority
  }

/** `if` says which events may be batched; the gate asks which may not. */
const aloneRule = (path: string, text: string | undefined): Rule | null => {
  if (text === undefined) return null
  const rule = ruleAt(path, text)
  return (roots) => {
    const answer = rule(roots)
    if (answer.kind === 'error') return answer
    return typeof answer.value === 'boolean'
      ? { kind: 'value', value: !answer.value }
      : { kind: 'error', detail: `${text}: gives ${JSON.stringify(answer.value)}, not true or false` }
  }
}

const rulesOf = (path: string, source: FlowSource): FlowRules => {
  const { idempotency, rateLimit, debounce, batch, throttle, fanIn } = source
  const window = batch === undefined ? 'debounce' : 'batch'
  if (idempotency !== undefined && idempotency.key === undefined)
    throw invalidAt(`${path}.idempotency.key`, 'expected an expression')
  return {
    idempotencyKey: ruleOrNull(`${path}.idempotency.key`, idempotency?.key),
    rateKey: ruleOrNull(`${path}.rateLimit.key`, rateLimit?.key),
    windowKey:
      fanIn === undefined
        ? ruleOrNull(`${path}.${window}.key`, (batch ?? debounce)?.key)
        : ruleAt(`${path}.fanIn.correlationKey`, fanIn.correlationKey),
    overlapKey: ruleOrNull(`${path}.overlapKey`, source.overlapKey),
    throttleKey: ruleOrNull(`${path}.throttle.key`, throttle?.key),
    cost: numberRule(`${path}.throttle.cost`, throttle?.cost, costAt(`${path}.throttle.cost`)),
    priority: numberRule(`${path}.priority`, source.priority, priorityAt(`${path}.priority`)),
    alone: aloneRule(`${path}.batch.if`, batch?.if),
  }
}

const concurrencySources = ({ concurrency = [] }: FlowSource): readonly ConcurrencySource[] =>
  typeof concurrency === 'number' ? [{ limit: concurrency }] : concurrency

const concurrencyOf = (path: string, source: ConcurrencySource): Concurrency => {
  const { scope = 'handler', key, unit = 'step', weight = 1 } = source
  const limit = wholeNumber(`${path}.limit`, source.limit, LIMIT)
  if (source.total !== undefined && key === undefined)
    throw invalidAt(`${path}.total`, 'limits all keys together, but there is no key')
  return {
    total: source.total === undefined ? null : wholeNumber(`${path}.total`, source.total, LIMIT),
    scope: oneOf(`${path}.scope`, scope, CONCURRENCY_SCOPES),
    key: ruleOrNull(`${path}.key`, key),
    limit,
    weight: wholeNumber(`${path}.weight`, weight, { min: 1, max: limit }),
    unit: oneOf(`${path}.unit`, unit, UNITS),
  }
}

const AT_LIMIT = { skip: 'skip', cancel_oldest: 'stop_oldest', cancel_newest: 'stop_newest' } as const

/** An entry whose excess runs do not wait is enforced by the gate, which counts the runs of a key, parked ones too. */
const boundedBy = (
  path: string,
  options: FlowSource,
): { readonly key: string | undefined; readonly policies: Pick<FlowPolicies, 'overlap' | 'room'> } | null => {
  const bounded = concurrencySources(options).filter((entry, i) => {
    const onLimit = oneOf(`${path}.concurrency.${i}.onLimit`, entry.onLimit ?? 'queue', ON_LIMITS)
    return onLimit !== 'queue'
  })
  const [entry, other] = bounded
  if (entry?.onLimit === undefined || entry.onLimit === 'queue') return null
  if (other !== undefined) throw conflict(path, 'two limits decide what happens to a run without a free slot; keep one')
  if ((entry.scope ?? 'handler') !== 'handler')
    throw conflict(path, `onLimit ${entry.onLimit} works for runs of one handler, not for scope ${entry.scope}`)
  if ((options.overlap ?? 'allow') !== 'allow')
    throw conflict(path, 'overlap and onLimit both decide what happens to a second run; keep one')
  return { key: entry.key, policies: { overlap: AT_LIMIT[entry.onLimit], room: entry.limit } }
}

const conflict = (path: string, problem: string): TrihandError =>
  new TrihandError('POLICY_CONFLICT', `${path}: ${problem}`, { place: { path } })

const checkConflicts = (path: string, source: FlowSource): void => {
  const { batch, debounce, overlap = 'allow', overlapKey } = source
  if (batch !== undefined && debounce !== undefined)
    throw conflict(path, 'batch and debounce both collect events; keep one')
  if (source.fanIn !== undefined && (batch ?? debounce) !== undefined)
    throw conflict(path, 'fan-in, batch and debounce all collect events; keep one')
  const other = concurrencySources(source).find(({ key }) => key !== undefined && key !== batch?.key)
  if (batch !== undefined && other !== undefined)
    throw conflict(path, `a batch has one key for all its events, but concurrency asks each for ${other.key}`)
  if (overlapKey !== undefined && overlap === 'allow')
    throw invalidAt(`${path}.overlapKey`, 'needs an overlap other than allow')
}

const FLOW_OPTIONS: Readonly<Record<keyof FlowSource, true>> = {
  idempotency: true,
  whilePaused: true,
  rateLimit: true,
  debounce: true,
  batch: true,
  overlap: true,
  overlapKey: true,
  throttle: true,
  concurrency: true,
  priority: true,
  fairness: true,
  fanIn: true,
}

const remembers = (policies: FlowPolicies): boolean =>
  [policies.idempotency, policies.rateLimit, policies.debounce, policies.batch, policies.throttle].some(
    (policy) => policy !== null,
  ) ||
  policies.overlap !== 'allow' ||
  policies.fanIn !== undefined ||
  policies.whilePaused === 'hold'

const fairnessOf = (path: string, source: FlowSource['fairness']): FlowDefinition['fairness'] =>
  source === undefined
    ? null
    : {
        key: ruleAt(`${path}.key`, source.key),
        weight: numberRule(`${path}.weight`, source.weight, (weight) => wholeNumber(`${path}.weight`, weight, LIMIT)),
      }

const ALONE: FlowSurroundings = { retry: DEFAULT_RETRY, budgets: new Map() }

/** Null if no option concerns flow control. Throws with the path of what does not fit. */
export const defineFlow = (
  options: FlowSource,
  path: string,
  around: FlowSurroundings = ALONE,
): FlowDefinition | null => {
  if (!Object.keys(FLOW_OPTIONS).some((name) => options[name as keyof FlowSource] !== undefined)) return null
  checkConflicts(path, options)
  const bounded = boundedBy(path, options)
  const policies = { ...policiesOf(path, options, around), ...bounded?.policies }
  const entries = concurrencySources(options)
  if (entries.length > MAX_CONCURRENCY)
    throw invalidAt(`${path}.concurrency`, `${entries.length} entries; at most ${MAX_CONCURRENCY} are allowed`)
  return {
    policies,
    rules: rulesOf(path, bounded?.key === undefined ? options : { ...options, overlapKey: bounded.key }),
    concurrency: entries.map((entry, i) => concurrencyOf(`${path}.concurrency.${i}`, entry)),
    fairness: fairnessOf(`${path}.fairness`, options.fairness),
    isStateful: remembers(policies),
    ofTriggers: new Map(),
  }
}

/** Debounce and batch both gather events, so either one on a trigger replaces both of the handler's. */
const merged = (options: FlowSource, own: TriggerFlowSource): FlowSource => {
  const { debounce, batch, ...rest } = options
  const gathers = own.debounce !== undefined || own.batch !== undefined
  const handlers = { ...(debounce !== undefined && { debounce }), ...(batch !== undefined && { batch }) }
  return { ...rest, ...(gathers ? {} : handlers), ...pick(own) }
}

const pick = (own: TriggerFlowSource): TriggerFlowSource =>
  Object.fromEntries(ownOptions(own).map((option) => [option, own[option]]))

/** The flow control of a handler, and of its triggers that have their own. */
export const defineFlows = (
  options: FlowSource,
  triggers: readonly NamedTriggerFlow[],
  path: string,
  around: FlowSurroundings,
): FlowDefinition | null => {
  const base = defineFlow(options, path, around)
  if (triggers.length === 0) return base
  const flows = triggers.flatMap(({ name, own }) => {
    const flow = defineFlow(merged(options, own), `${path}.trigger`, around)
    return flow === null ? [] : [[name, { ...flow, owns: ownOptions(own) }] as const]
  })
  const open = base ?? defineFlow({ overlap: 'allow' }, path, around)
  return open === null ? null : { ...open, isStateful: true, ofTriggers: new Map(flows) }
}
