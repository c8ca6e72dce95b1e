/**
 * `step.run` and the other step functions, as a function's author uses them.
 *
 * Owns the names that authors use and what they mean. How a call becomes a request is steps.ts.
 *
 * step-api-1  A step is addressed by name and loop key. The same name again in one entry gets the loop key #1, #2, …
 */
import type { CodeLimits } from '#model/access/outbound.ts'
import type { CallTerms } from '#model/agent/call-terms.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { ConstraintsSource, WireConstraints } from '#model/flow/policies/constraints.ts'
import type { RetryPolicy } from '#model/flow/policies/retry.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Effect } from '#model/run/step.ts'
import type { Human } from '#model/task/human.ts'
import type { TaskOptions } from '#model/task/source.ts'
import type {
  AskReply,
  CallGate,
  OnParentEnd,
  OnPartial,
  StepContext,
  StepPort,
  TaskOutcome,
  TaskRequest,
} from '#ports/step-port.ts'
import type { ToolContext } from '#ports/tool.ts'

/** `30s`, `1h30m`, `P1D`, or milliseconds as a number. */
export type Duration = string | number

/** What every step takes. */
export interface StepOptions {
  /** Distinguishes the iterations of a loop: `{ key: order.id }`. Default: #1, #2, … by the order of the calls. */
  readonly key?: string
}

/** How a step is performed: `{ effect: 'once', target: 'payments.example.com', timeout: '20s' }`. */
export interface RunOptions<Result = unknown> extends StepOptions {
  /**
   * What a repeat would do: `idempotent` may be done again under the same key, `once` not without a person's decision, `transactional` is committed
   * with its result. Default: `idempotent`.
   */
  readonly effect?: Effect
  /** How often a failed attempt is repeated, and after how long. Default: 4 attempts, from 1 s on twice as long each, at most 5 min. */
  readonly retry?: Partial<RetryPolicy>
  /** How long an attempt may take, a duration. Default: as the function says. */
  readonly timeout?: Duration
  /** Runs instead of the step while the function's breaker is open, if its `whenOpen` is `fallback`. Default: the step fails then. */
  readonly fallback?: (context: StepContext) => Result | Promise<Result>
  /** What the step works on. Shown to people if it is unknown whether a `once` effect happened. Default: the input of the run. */
  readonly input?: unknown
  /** What a `once` effect acts on, e.g. `payments.example.com` or `invoice 17`: tells people where to look. Default: nothing. */
  readonly target?: string
}

/** A task for an executor: `{ type: 'llm', task: { task_type: 'generation', prompt: 'Greet {{name}}' } }`. */
export interface ExecuteOptions extends StepOptions {
  /** `llm`, `template_engine`, `document_processor`, `classifier`, `tool_call`, or a type of your own. */
  readonly type: string
  /** The task, in the executor's own terms: `{ task_type, prompt, input_variables, … }`. */
  readonly task: Readonly<Record<string, unknown>>
  /** The conversation, documents and project that the executor may use. Default: none. */
  readonly context?: TaskRequest['context']
  /** The same in the spelling of the executor contract: `{ project_id, conversation_snippet, retrieved_documents }`. */
  readonly execution_context?: unknown
  /** Limits of time, tokens, temperature and models; an unknown key is refused. Default: 30 s. */
  readonly constraints?: ConstraintsSource | WireConstraints
  /** The models to ask, in this order. Default: the allowed models. */
  readonly models?: readonly string[]
  /** What to do with an incomplete result: `accept`, `continue` from it, or `fail`. Default: `accept`. */
  readonly onPartial?: OnPartial
  /** What a repeat would do, as in `RunOptions`. Default: `idempotent`. */
  readonly effect?: Effect
  /** How often a failed attempt is repeated. Default: 4 attempts, from 1 s on twice as long each, at most 5 min. */
  readonly retry?: Partial<RetryPolicy>
}

/** An HTTP request: `{ method: 'POST', json: { id: 17 } }`. */
export interface FetchOptions extends StepOptions, Pick<RunOptions, 'effect' | 'retry' | 'timeout' | 'target'> {
  /** Default: GET. */
  readonly method?: string
  /** Its headers. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
  /** Its body as text. Default: none. */
  readonly body?: string
  /** Its body as JSON, instead of `body`; sets the content type. Default: none. */
  readonly json?: unknown
}

/** The answer to an HTTP request. */
export interface FetchAnswer {
  /** Its status: 200. */
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Its body, as text. */
  readonly text: string
}

/** What a step waits for: `{ event: 'order.paid', match: 'payload.id', timeout: '7d' }`. */
export interface WaitOptions extends StepOptions {
  /** The type of the event. */
  readonly event?: string
  /** Several types, of which one is enough. */
  readonly anyOf?: readonly string[]
  /** Several types, of which each must arrive. */
  readonly allOf?: readonly string[]
  /** A path such as `payload.id` whose value must be equal in the event and in the run's trigger. Default: any event of the type. */
  readonly match?: string
  /** A CEL condition over `event`, `payload` (its data) and `trigger`. Default: none. */
  readonly if?: string
  /** How long it waits, a duration. Default: without end. */
  readonly timeout?: Duration
  /** How far back an event may lie: since the run's trigger (`run`), not at all (`none`), or a duration. Default: `run`. */
  readonly lookback?: 'run' | 'none' | Duration
  /** How many events end the wait: the first (`one`), or all that have arrived by then, in order (`all`). Not with `allOf`. Default: `one`. */
  readonly take?: 'one' | 'all'
  /** With `take: 'all'`: the most events to take; the others are left to the next wait. Default and maximum: 1000. */
  readonly max?: number
}

/** The answer of `step.waitForEvent`: the events that arrived, or `timed_out` with those that are missing. */
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

/** The durable steps of a run: `const paid = await step.waitForEvent('payment', { event: 'order.paid', timeout: '7d' })`. */
export interface Step {
  /** Performs once per address; later entries get the recorded result. */
  run<Result>(
    name: string,
    body: (context: StepContext) => Result | Promise<Result>,
    options?: RunOptions<Result>,
  ): Promise<Awaited<Result>>
  /** A task for the executor that is registered for a type; the engine retries, falls back and verifies the usage that it reports. */
  execute(name: string, options: ExecuteOptions): Promise<TaskOutcome>
  /**
   * One HTTP request as a step: its answer is recorded, and later entries get the recorded one. Only to hosts that the module allows
   * (`allow.hosts`, with the operation `api_call`), never into the local network. 408, 429 and 5xx fail the attempt, which is retried;
   * any other status is an answer. Unless it is GET, HEAD or OPTIONS the request carries the header `Idempotency-Key`: the same for every
   * attempt.
   */
  fetch(name: string, url: string | URL, options?: FetchOptions): Promise<FetchAnswer>
  /** The value of an environment variable. The module must allow it (`allow.secrets`). Read in every entry, recorded nowhere. */
  secret(name: string): Promise<string>
  /** Waits this long, a duration. Meanwhile the run costs no memory. */
  sleep(name: string, duration: Duration, options?: StepOptions): Promise<void>
  /** An instant is a date, or milliseconds since the Unix epoch. */
  sleepUntil(name: string, instant: number | { valueOf(): number }, options?: StepOptions): Promise<void>
  /**
   * Never throws for a timeout: check `status`. An event sent before the wait counts. Each event counts once per run, first in first
   * out: three waits in a row for one type get the first, the second and the third event.
   */
  waitForEvent(name: string, options: WaitOptions): Promise<WaitResult>
  /** Calls another function of the system as a child run; its failure is thrown as StepFailure. */
  invoke(name: string, handler: string, input?: unknown, options?: InvokeStepOptions): Promise<Json>
  /** Asks people and returns their answer, which may take days. The task says what they may decide and by when. */
  human(name: string, task: TaskOptions, options?: HumanStepOptions): Promise<AskReply>
  /** Sends events now, each once; returns their ids. */
  emit(
    name: string,
    events: OutgoingEvent | readonly OutgoingEvent[],
    options?: StepOptions,
  ): Promise<readonly string[]>
}

/** How a child run is started: `{ onParentEnd: 'detach' }`. */
export interface InvokeStepOptions extends StepOptions {
  /** What happens to the child if this run ends first: `cancel`, or `detach`, which lets it continue. Default: `cancel`. */
  readonly onParentEnd?: OnParentEnd
  /**
   * `none`: the call skips the flow control of its handler (throttle, pause, idempotency, overlap, rate limit, concurrency). Default: it does not.
   */
  readonly gate?: CallGate
}

/** How people are asked: `{ requester: 'ana' }`. */
export interface HumanStepOptions extends StepOptions {
  /** The answer that asked for a revision: the same task comes back with new content. Default: a new task. */
  readonly revises?: AskReply
  /** The person who requested this: `separation: 'requester'` keeps them from deciding. Default: the person who began the chain of causes. */
  readonly requester?: string
}

/** An event that a step sends: `{ type: 'order.shipped', data: { id: 17 } }`. */
export interface OutgoingEvent {
  /** Its type. */
  readonly type: string
  /** Its data, any JSON. Default: `{}`. */
  readonly data?: unknown
  /** What it is about. Default: nothing. */
  readonly subject?: string
  /** The event becomes visible this long after it is sent. Default: at once. */
  readonly delay?: Duration
}

export type ParseDuration = (duration: Duration) => number
/** Internal options of a step: the lifecycle event that is sent when it begins. */
export interface LifecycleOptions {
  readonly reports?: Parameters<StepPort['report']>[1]
}

/** Internal options of a call. */
export interface Retrying {
  /** What is asked of the run, besides its input. */
  readonly terms?: CallTerms
  /** The failed call of the same name whose child it retries, by its loop key. */
  readonly retries?: { readonly key: string | null }
}

/** The input of a call, made only if this entry begins the call: a call that has begun needs none. */
export interface InputWhenBegun {
  readonly makeInput?: () => Json
}

/** Results that are already recorded, for our own programs, which need not wait for them. */
export interface Replayed {
  /** The output of the first call of this name, if it succeeded, without calling it in this entry. Null: call it and wait. */
  readonly ended?: (name: string) => { readonly value: Json } | null
}

/** Checks what a step asks of people. */
export type DefineTask = (name: string, options: TaskOptions) => Human

/** How the author's values are parsed (in manifest), and the outgoing fetch: executors import neither. */
export interface Readers {
  readonly parse: ParseDuration
  readonly taskOf: DefineTask
  /** A fetch to the hosts that this function may call. Absent: fetching is not possible here. */
  readonly fetchFor?: (limits: CodeLimits) => ToolContext['fetch']
  /** A variable of the environment; null: it is not set. Absent: there is no environment. */
  readonly secret?: (name: string) => string | null
}
