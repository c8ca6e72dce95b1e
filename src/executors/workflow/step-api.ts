/**
 * `step.run` and its sisters, as a function's author writes them.
 *
 * Owns names, loop keys and readable options; turns each call into one request at the gate. Never decides, waits or stores anything.
 *
 * step-api-1  A step is addressed by name and loop key. The same name again in one entry gets the loop key #1, #2, …
 */
import { TrihandError } from '../../model/errors.ts'
import type { StoredEvent } from '../../model/event.ts'
import type { Human, People } from '../../model/human.ts'
import { type Json, toJson } from '../../model/json.ts'
import type { ConstraintsSource } from '../../model/policies/constraints.ts'
import { DEFAULT_RETRY, type RetryPolicy } from '../../model/policies/retry.ts'
import { type Effect, isLoopKey, isStepName, stepAddress } from '../../model/step.ts'
import type { TaskOptions } from '../../model/task-source.ts'
import type {
  AskReply,
  OnPartial,
  StepContext,
  StepGate,
  TaskOutcome,
  TaskRequest,
  WaitAnswer,
} from '../../ports/step-gate.ts'

/** `30s`, `1h30m`, `P1D`, or milliseconds as a number. */
export type Duration = string | number

export interface StepOptions {
  /** Tells the rounds of a loop apart. */
  readonly key?: string
}

export interface RunOptions<Result = unknown> extends StepOptions {
  readonly effect?: Effect
  readonly retry?: Partial<RetryPolicy>
  readonly timeout?: Duration
  /** Performed instead while the function's breaker is open, if its `whenOpen` is `fallback`. */
  readonly fallback?: (context: StepContext) => Result | Promise<Result>
}

export interface ExecuteOptions extends StepOptions {
  /** `llm`, `template_engine`, `document_processor`, `classifier`, `tool_call`, or a type of your own. */
  readonly type: string
  /** What to do, in the words of the executor: `{ task_type, prompt, input_variables, … }`. */
  readonly task: Readonly<Record<string, unknown>>
  readonly context?: TaskRequest['context']
  readonly constraints?: ConstraintsSource
  /** To be asked in this order. Absent: the allowed ones. */
  readonly models?: readonly string[]
  /** What an incomplete result is: good enough (default), a place to go on from, or a failure. */
  readonly onPartial?: OnPartial
  readonly effect?: Effect
  readonly retry?: Partial<RetryPolicy>
}

export interface WaitOptions extends StepOptions {
  readonly event?: string
  readonly anyOf?: readonly string[]
  readonly allOf?: readonly string[]
  /** A path such as `payload.id` that must be equal in the event and in what triggered the run. */
  readonly match?: string
  /** A CEL condition over `event`, `payload` (its data) and `trigger`. */
  readonly if?: string
  readonly timeout?: Duration
  /** How far back an event may lie: since the run's trigger (default), not at all, or a length of time. */
  readonly lookback?: 'run' | 'none' | Duration
}

export type WaitResult =
  | {
      readonly status: 'received'
      readonly event: StoredEvent
      readonly events: readonly StoredEvent[]
      readonly missing: readonly string[]
    }
  | {
      readonly status: 'timed_out'
      readonly event: null
      readonly events: readonly StoredEvent[]
      readonly missing: readonly string[]
    }

export interface Step {
  /** Performs once per address; later entries get the recorded result. */
  run<Result>(
    name: string,
    body: (context: StepContext) => Result | Promise<Result>,
    options?: RunOptions<Result>,
  ): Promise<Awaited<Result>>
  /** A task for an executor that is registered under a type; the engine retries, falls back and looks at what it says it used. */
  execute(name: string, options: ExecuteOptions): Promise<TaskOutcome>
  sleep(name: string, duration: Duration, options?: StepOptions): Promise<void>
  /** An instant is a date, or milliseconds since the Unix epoch. */
  sleepUntil(name: string, instant: number | { valueOf(): number }, options?: StepOptions): Promise<void>
  /** Never throws for a timeout: look at `status`. An event sent before the wait counts. */
  waitForEvent(name: string, options: WaitOptions): Promise<WaitResult>
  /** Another function of the system as a child run; its failure is thrown as StepFailure. */
  invoke(name: string, handler: string, input?: unknown, options?: StepOptions): Promise<Json>
  /** Asks people and gives their answer, days later if need be. What they may do and by when is in the task. */
  human(name: string, task: TaskOptions, options?: HumanStepOptions): Promise<AskReply>
  emit(
    name: string,
    events: OutgoingEvent | readonly OutgoingEvent[],
    options?: StepOptions,
  ): Promise<readonly string[]>
}

export interface HumanStepOptions extends StepOptions {
  /** The answer that asked for a revision: the same task comes back with new content. */
  readonly revises?: AskReply
  /** Who wanted this, if a person did: `separation: 'requester'` keeps them from deciding. */
  readonly requester?: string
}

export interface OutgoingEvent {
  readonly type: string
  readonly data?: unknown
  readonly subject?: string
  /** Not there before so long after. */
  readonly delay?: Duration
}

export type ParseDuration = (duration: Duration) => number
/** What only our own programs say with a step: told with its birth. */
export interface Telling {
  readonly tells?: Parameters<StepGate['tell']>[1]
}

/** What a step asks of people, checked. */
export type DefineTask = (name: string, options: TaskOptions) => Human

/** How words of an author become values: both are manifest's, which executors do not see. */
export interface Readers {
  readonly parse: ParseDuration
  readonly taskOf: DefineTask
}

const NO_OPTIONS: RunOptions<never> = {}
const TASK_TIMEOUT_MS = 30_000

const taskRequest = (step: string, options: ExecuteOptions, parse: ParseDuration): TaskRequest => {
  const {
    type,
    task,
    context = {},
    constraints = {},
    models = [],
    onPartial = 'accept',
    effect = 'idempotent',
  } = options
  const { task_type: taskType = type, ...input } = task
  const { timeout, ...limits } = constraints
  return {
    step,
    effect,
    retry: { ...DEFAULT_RETRY, ...options.retry },
    executorType: type,
    task: { type: String(taskType), input: toJson(input) },
    context,
    constraints: { ...limits, timeoutMs: timeout === undefined ? TASK_TIMEOUT_MS : parse(timeout) },
    models,
    onPartial,
  }
}

/** Gives each call its address: the explicit loop key, or a count per name within this entry. */
const addressBook = (): ((name: string, key: string | undefined) => string) => {
  const used = new Map<string, number>()
  return (name, key) => {
    if (!isStepName(name)) throw new TrihandError('STEP_NAME_INVALID', `"${name}" is not a step name`)
    if (key !== undefined) {
      // `#` is ours: it numbers the rounds that were given no key.
      if (!isLoopKey(key) || key.startsWith('#'))
        throw new TrihandError('STEP_NAME_INVALID', `"${key}" is not a loop key for step ${name}`)
      return stepAddress(name, key)
    }
    const round = used.get(name) ?? 0
    used.set(name, round + 1)
    return stepAddress(name, round === 0 ? null : `#${round}`)
  }
}

const typesOf = (options: WaitOptions): { readonly mode: 'any' | 'all'; readonly types: readonly string[] } => {
  const given = [options.event === undefined ? undefined : [options.event], options.anyOf, options.allOf].filter(
    (list) => list !== undefined,
  )
  const types = given[0]
  if (given.length !== 1 || types === undefined || types.length === 0) {
    throw new TrihandError('STEP_MISUSED', 'waitForEvent takes exactly one of event, anyOf and allOf')
  }
  return { mode: options.allOf === undefined ? 'any' : 'all', types }
}

const resultOf = (answer: WaitAnswer): WaitResult => {
  const [event] = answer.events
  if (answer.status === 'timed_out' || event === undefined) return { ...answer, status: 'timed_out', event: null }
  return { ...answer, status: 'received', event }
}

export const createStep = (
  gate: StepGate,
  { parse, taskOf }: Readers,
  defaults: { readonly timeoutMs: number },
): Step => {
  const address = addressBook()
  /** Who has decided which step, as far as this entry has come. */
  const deciders = new Map<string, readonly string[]>()
  const peopleFor = (requester: string | undefined): People => ({
    isKnown: () => true,
    requester: requester ?? null,
    decidersOf: (step) => {
      const people = deciders.get(step)
      // Fail closed: a name that is misspelt must not let everybody in.
      if (people === undefined)
        throw new TrihandError('SEPARATION_OF_DUTIES', `nobody has decided a step ${step} before this one`)
      return people
    },
  })
  const lookback = (given: WaitOptions['lookback']) => {
    if (given === undefined || given === 'run') return { kind: 'run' } as const
    return given === 'none' ? ({ kind: 'none' } as const) : ({ kind: 'within', ms: parse(given) } as const)
  }
  const outgoing = (event: OutgoingEvent) => ({
    type: event.type,
    data: toJson(event.data ?? {}),
    subject: event.subject ?? null,
    ...(event.delay === undefined ? {} : { delayMs: parse(event.delay) }),
  })

  return {
    run(name, body, options = NO_OPTIONS) {
      // The gate's own promise, without another around it: this is called for every step.
      try {
        return gate.run({
          step: address(name, options.key),
          effect: options.effect ?? 'idempotent',
          retry: options.retry === undefined ? DEFAULT_RETRY : { ...DEFAULT_RETRY, ...options.retry },
          timeoutMs: options.timeout === undefined ? defaults.timeoutMs : parse(options.timeout),
          body,
          fallback: options.fallback,
        }) as Promise<never>
      } catch (error) {
        return Promise.reject(error)
      }
    },
    execute: async (name, options) => gate.perform(taskRequest(address(name, options.key), options, parse)),
    async sleep(name, duration, options = {}) {
      const ms = parse(duration)
      await gate.sleepUntil(address(name, options.key), (now) => now + ms)
    },
    async sleepUntil(name, instant, options = {}) {
      const at = Number(instant)
      if (!Number.isFinite(at)) throw new TrihandError('STEP_MISUSED', `sleepUntil ${name}: not an instant`)
      await gate.sleepUntil(address(name, options.key), () => at)
    },
    async waitForEvent(name, options) {
      const { mode, types } = typesOf(options)
      const answer = await gate.waitForEvent(address(name, options.key), {
        mode,
        types,
        match: options.match ?? null,
        condition: options.if ?? null,
        timeoutMs: options.timeout === undefined ? null : parse(options.timeout),
        lookback: lookback(options.lookback),
      })
      return resultOf(answer)
    },
    invoke: async (name, handler, input, options: StepOptions & Telling = {}) =>
      gate.invoke(address(name, options.key), handler, toJson(input), options.tells),
    async human(name, task, { key, revises, requester, tells }: HumanStepOptions & Telling = {}) {
      const step = address(name, key)
      const spec = taskOf(name, task).make({}, peopleFor(requester))
      const again = revises === undefined ? {} : { revises: { task: revises.task, revision: revises.revision } }
      const reply = await gate.ask(step, { spec, ...again, ...(tells === undefined ? {} : { tells }) })
      deciders.set(name, [...(deciders.get(name) ?? []), ...reply.deciders])
      return reply
    },
    async emit(name, events, options = {}) {
      const list = Array.isArray(events) ? events : [events]
      return gate.emit(address(name, options.key), list.map(outgoing))
    },
  }
}
