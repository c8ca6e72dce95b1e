/**
 * Functions that need no code: routing by a value, members that have come together, and plans (plan.ts).
 *
 * Owns what the first two do. All are ordinary functions over steps; what they declare is in model/workflow/spec.ts.
 */
import { planned } from '#executors/workflow/plan/plan.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { FanInPolicy } from '#model/flow/policies/fan-in.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Roots, RoutingSpec, WorkflowSpec } from '#model/workflow/spec.ts'
import type { Step } from './step-api.ts'

/** What these need of the context that every function gets. */
interface PatternContext {
  readonly input: Json
  readonly step: Pick<Step, 'run' | 'invoke' | 'human' | 'sleep' | 'waitForEvent'>
  emit(type: string, data: Json): void
}

type PatternCode = (context: PatternContext) => unknown

const written = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** The route that this value takes; by text, as manifests write their keys. */
const routeFor = ({ on, routes, otherwise }: RoutingSpec, roots: Roots) => {
  const answer = on.rule(roots)
  if (answer.kind === 'error') throw new TrihandError('EXPR_FAILED', `route on ${on.text}: ${answer.detail}`)
  const value = written(answer.value)
  const route = routes.get(value) ?? otherwise
  if (route === null)
    throw new TrihandError('ROUTE_UNMATCHED', `${on.text} is ${value}; routes: ${[...routes.keys()].join(', ')}`)
  return { value, route }
}

const routed =
  (routing: RoutingSpec, roots: Roots): PatternCode =>
  async ({ input, step, emit }: PatternContext) => {
    const { value, route } = routeFor(routing, roots)
    if (route.emit !== null) emit(route.emit, input)
    const results = await Promise.all(route.calls.map((name) => step.invoke(`call ${name}`, name, input)))
    return { route: value, results }
  }

export interface FannedIn {
  /** The data of each member that came; of all of one member with `collect: all`. */
  readonly events: { readonly [type: string]: Json }
  readonly timed_out: boolean
  readonly missing: readonly string[]
}

export const fannedIn = ({ types, collect }: FanInPolicy, events: readonly StoredEvent[]): FannedIn => {
  const dataOf = (type: string): readonly Json[] =>
    events.filter((event) => event.type === type).map(({ data }) => data)
  const came = types.filter((type) => dataOf(type).length > 0)
  const missing = types.filter((type) => !came.includes(type))
  const pick = (all: readonly Json[]): Json => (collect === 'all' ? all : (all.at(collect === 'last' ? -1 : 0) ?? null))
  return {
    events: Object.fromEntries(came.map((type) => [type, pick(dataOf(type))])),
    timed_out: missing.length > 0,
    missing,
  }
}

/** Without a word on what a time-out means, it is a failure. */
const gathered =
  (spec: WorkflowSpec): PatternCode =>
  ({ input }: PatternContext) => {
    const { timed_out: isLate, missing } = input as unknown as FannedIn
    const isForeseen = spec.emits?.some(({ on }) => on === 'timeout' || on === 'always') === true
    if (isLate && !isForeseen) throw new TrihandError('FAN_IN_TIMEOUT', `missing: ${missing.join(', ')}`)
    return input
  }

/** What a function without code does by its pattern; null: it has none. */
export const patternCode = (spec: WorkflowSpec, roots: Roots): PatternCode | null => {
  if (spec.plan !== null) return planned(spec.plan, roots)
  if (spec.routing !== null) return routed(spec.routing, roots)
  return spec.fanIn === null ? null : gathered(spec)
}
