/**
 * A workflow function as its author writes it, and how it is entered.
 *
 * Owns the context that a handler receives. Never keeps anything between entries.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { planned } from '#executors/workflow/plan/plan.ts'
import type { CodeLimits } from '#model/access/outbound.ts'
import type { Ending } from '#model/event/emits.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { FanInPolicy } from '#model/flow/policies/fan-in.ts'
import type { RetryPolicy } from '#model/flow/policies/retry.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { RunId, TenantId } from '#model/kernel/ids.ts'
import { type Json, toJson } from '#model/kernel/json.ts'
import { isPartial, partialValue } from '#model/run/partial.ts'
import { type Effect, stepAddress } from '#model/run/step.ts'
import type { FunctionDeclaration, FunctionSource } from '#model/workflow/function-source.ts'
import { PLAIN, type Roots, type RoutingSpec, type WorkflowSpec } from '#model/workflow/spec.ts'
import type { Abort } from '#ports/executor.ts'
import type { EmittedEvent, Entry, ScheduleContext, StepContext } from '#ports/step-port.ts'
import { after, before, rootsOf } from './declared.ts'
import type { Duration, ParseDuration, Readers, Step } from './step-api.ts'
import { Steps } from './steps.ts'

/*
 * Functions that need no code: routing by a value, members that have come together, and plans (plan.ts).
 * Owns what the first two do. All are ordinary functions over steps; what they declare is in model/workflow/spec.ts.
 */

/** The part of the function's context that these need. */
interface PatternContext {
  readonly input: Json
  readonly step: Pick<Step, 'run' | 'invoke' | 'human' | 'sleep' | 'waitForEvent'>
  emit(type: string, data: Json): void
}

type PatternCode = (context: PatternContext) => unknown

const written = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** The route for this value; compared as text, because manifests write their keys as text. */
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

interface FannedIn {
  /** The data of each member that came; with `collect: all`, of all events of a member. */
  readonly events: { readonly [type: string]: Json }
  readonly timed_out: boolean
  readonly missing: readonly string[]
}

const fannedIn = ({ types, collect }: FanInPolicy, events: readonly StoredEvent[]): FannedIn => {
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

/** A time-out is a failure, unless something is declared for it. */
const gathered =
  (spec: WorkflowSpec): PatternCode =>
  ({ input }: PatternContext) => {
    const { timed_out: isLate, missing } = input as unknown as FannedIn
    const isForeseen = spec.emits?.some(({ on }) => on === 'timeout' || on === 'always') === true
    if (isLate && !isForeseen) throw new TrihandError('FAN_IN_TIMEOUT', `missing: ${missing.join(', ')}`)
    return input
  }

/** What a function without code does by its pattern; null: it has no pattern. */
const patternCode = (spec: WorkflowSpec, roots: Roots): PatternCode | null => {
  if (spec.plan !== null) return planned(spec.plan, roots)
  if (spec.routing !== null) return routed(spec.routing, roots)
  return spec.fanIn === null ? null : gathered(spec)
}

const KIND = Symbol.for('trihand.kind')
/** The one step of a function that is a step itself (`effect: 'once'` on the function). */
const WHOLE = 'main'
/** No author can use a loop key that begins like this. */
const STARTED = stepAddress('trihand', '#started')
const NO_LOOKUPS: FunctionContext['lookups'] = {}

/** What the code of a function receives: `async ({ input, step, emit }) => …`. */
export interface FunctionContext<Input = Json> {
  /** Its input: the data of the event that started it, or what the caller passed. */
  readonly input: Input
  /** The event that triggered the run; null if it was called. */
  readonly event: StoredEvent | null
  /** All events that started the run: several with `batch` or `debounce: collect`, and `input` is then the list of their data. */
  readonly events: readonly StoredEvent[]
  /** Slot, missed slots and the previous run, if a schedule started the run. */
  readonly schedule: ScheduleContext | null
  /** The run: its id, its tenant, and its attempt. */
  readonly run: { readonly id: RunId; readonly tenant: TenantId; readonly attempt: number }
  /** Durable steps: each is performed once, whatever happens to the process. */
  readonly step: Step
  /** Aborted when the run is cancelled or this process loses it. */
  readonly signal: AbortSignal
  /** One key for the whole run, to send to outside systems as their idempotency key. */
  readonly effectKey: string
  /** An intent: sent with the function's result, or not at all. */
  emit(type: string, data?: unknown, options?: EmitOptions): void
  /** The documents that `dbLookups` read before the code, by name; null for a document that does not exist. */
  readonly lookups: { readonly [name: string]: Json }
  /** Reads the session's memory; null if the key does not exist. */
  recall(key: string): Promise<Json | null>
}

/** How an event is sent with the function's result: `{ subject: 'order-17', delay: '1h' }`. */
export interface EmitOptions {
  /** What it is about. Default: nothing. */
  readonly subject?: string
  /** The event becomes visible this long after it is sent. Default: at once. */
  readonly delay?: Duration
}

/** The code of a function: gets its context, returns its result. */
export type Handler<Input = Json> = (context: FunctionContext<Input>) => unknown

/** What a function declares, with the types of its schemas: `{ trigger: 'order.paid', input: Order, effect: 'once' }`. */
export interface FunctionOptions<Input = Json> extends FunctionDeclaration {
  /** The schema of its input, any with `~standard`: it gives `input` its type, and input that does not fit is refused. Default: any JSON. */
  readonly input?: StandardSchemaV1<unknown, Input>
  /** The schema of its result, any with `~standard`: a run whose result does not fit fails. Default: any JSON. */
  readonly output?: StandardSchemaV1
}

/** The code of a function of a module with `isolation: 'process'`: a file below the module's folder, `sell.ts` or `shop.ts#sell`. */
export interface CodeInFile {
  /** The file, below the module's folder: `sell.ts`, or `shop.ts#sell` for one of several exports. */
  readonly file: string
}

/**
 * Declares a workflow function: ordinary code whose steps are durable.
 *
 * ```ts
 * fn('ship', { trigger: 'order.paid' }, async ({ input, step }) => {
 *   const label = await step.run('label', () => printLabel(input))
 *   await step.sleep('until pick-up', '1d')
 *   return label
 * })
 * ```
 */
export const fn = <Input = Json>(
  name: string,
  options: FunctionOptions<Input>,
  code: Handler<Input> | CodeInFile | null = null,
): FunctionSource => {
  const source = { name, options, code }
  Object.defineProperty(source, KIND, { value: 'function' })
  return source
}

export interface EnterOptions extends CodeLimits {
  readonly code: unknown
  readonly effect: Effect
  readonly retry: RetryPolicy
  readonly timeoutMs: number
  readonly workflow: WorkflowSpec
}

/** Everything that the code of one entry receives, besides its steps. */
interface Given {
  readonly entry: Entry
  readonly input: Json
  readonly lookups: FunctionContext['lookups']
  readonly readers: Readers
}

const emitted = (
  parse: ParseDuration,
  type: string,
  data: unknown,
  options: EmitOptions | undefined,
): EmittedEvent => ({
  type,
  data: toJson(data),
  subject: options?.subject ?? null,
  ...(options?.delay === undefined ? {} : { delayMs: parse(options.delay) }),
})

/** Created for every run, so rare members are created on demand. They are functions, because authors destructure it: `({ emit }) => emit(…)`. */
class HandlerContext implements FunctionContext {
  readonly input: Json
  readonly event: StoredEvent | null
  readonly events: readonly StoredEvent[]
  readonly schedule: ScheduleContext | null
  readonly run: FunctionContext['run']
  readonly step: Step
  readonly lookups: FunctionContext['lookups']
  readonly #given: Given
  readonly #abort: Abort

  constructor(given: Given, step: Step, abort: Abort) {
    const { entry } = given
    this.input = given.input
    this.event = entry.event
    this.events = entry.events
    this.schedule = entry.schedule
    this.run = { id: entry.run, tenant: entry.tenant, attempt: entry.attempt }
    this.step = step
    this.lookups = given.lookups
    this.#given = given
    this.#abort = abort
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get effectKey(): string {
    return this.#given.entry.effectKey()
  }

  get emit(): FunctionContext['emit'] {
    const { entry, readers } = this.#given
    return (type, data = {}, options) => entry.emit(emitted(readers.parse, type, data, options))
  }

  get recall(): FunctionContext['recall'] {
    const { entry } = this.#given
    return (key) => entry.recall(key)
  }
}

/** A function that is a single step: its body is performed under its own effect class, and may not contain steps. */
const wholeStep = (handler: Handler, given: Given, options: EnterOptions): Promise<Json> => {
  const { entry, input, lookups } = given
  const noSteps = new Proxy({} as Step, {
    get: () => {
      throw new TrihandError(
        'STEP_MISUSED',
        `a function with effect ${options.effect} is one step and cannot contain steps; a retry repeats the code before this step`,
      )
    },
  })
  const body = (context: StepContext): unknown =>
    handler({
      input,
      event: entry.event,
      events: entry.events,
      schedule: entry.schedule,
      run: { id: entry.run, tenant: entry.tenant, attempt: context.attempt },
      step: noSteps,
      signal: context.signal,
      effectKey: context.effectKey,
      emit: (type, data = {}, extra) => context.emit(type, toJson(data), extra),
      lookups,
      recall: (key) => entry.recall(key),
    })
  return entry.gate.run({
    step: WHOLE,
    effect: options.effect,
    retry: options.retry,
    timeoutMs: options.timeoutMs,
    body,
  })
}

const play = (handler: Handler, given: Given, options: EnterOptions, abort: Abort): unknown => {
  if (options.effect !== 'idempotent') return wholeStep(handler, given, options)
  const step = new Steps(given.entry.gate, given.readers, options, given.entry)
  return handler(new HandlerContext(given, step, abort))
}

const endingOf = (result: unknown, members: FannedIn | null): Ending => {
  if (members?.timed_out === true) return 'timeout'
  return isPartial(result) ? 'partial' : 'success'
}

/** Enters the function with everything that it declares around its code. */
const playDeclared = async (readers: Readers, entry: Entry, options: EnterOptions, abort: Abort): Promise<unknown> => {
  const { workflow, code } = options
  const { fanIn } = workflow
  // A function that is called by name has no members: its input is what the caller passed.
  const members = fanIn === null || entry.events.length === 0 ? null : fannedIn(fanIn, entry.events)
  const input = members === null ? entry.input : (members as unknown as Json)
  const roots = rootsOf(entry, input)
  const handler = typeof code === 'function' ? (code as Handler) : patternCode(workflow, roots)
  if (handler === null) throw new TrihandError('FUNCTION_NOT_IMPLEMENTED', 'the function has no code yet')
  const found = await before(workflow, entry, roots)
  const result = await play(handler, { entry, input, lookups: found.lookups, readers }, options, abort)
  const output = toJson(partialValue(result))
  const ending = endingOf(result, members)
  await after(workflow, entry, found, { roots: { ...roots, output, result: output }, ending })
  return result
}

export const enterFunction =
  (readers: Readers) =>
  (entry: Entry, options: EnterOptions, abort: Abort): unknown => {
    // A fast path: most functions declare nothing and have no listeners, and each await would cost them a turn.
    const started = entry.isToldOf('workflow.started')
      ? entry.gate.report(STARTED, { type: 'workflow.started', data: {} })
      : null
    const work = (): unknown => {
      if (options.workflow !== PLAIN) return playDeclared(readers, entry, options, abort)
      if (typeof options.code !== 'function')
        throw new TrihandError('FUNCTION_NOT_IMPLEMENTED', 'the function has no code yet')
      return play(options.code as Handler, { entry, input: entry.input, lookups: NO_LOOKUPS, readers }, options, abort)
    }
    return started === null ? work() : started.then(work)
  }
