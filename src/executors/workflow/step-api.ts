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

export interface StepOptions {
  /** Distinguishes the iterations of a loop. */
  readonly key?: string
}

export interface RunOptions<Result = unknown> extends StepOptions {
  readonly effect?: Effect
  readonly retry?: Partial<RetryPolicy>
  readonly timeout?: Duration
  /** Runs instead of the step while the function's breaker is open, if its `whenOpen` is `fallback`. */
  readonly fallback?: (context: StepContext) => Result | Promise<Result>
  /** What the step works on. Shown to people if it is unknown whether a `once` effect happened. Default: the input of the run. */
  readonly input?: unknown
  /** What a `once` effect acts on, e.g. `payments.example.com` or `invoice 17`: tells people where to look. */
  readonly target?: string
}

export interface ExecuteOptions extends StepOptions {
  /** `llm`, `template_engine`, `document_processor`, `classifier`, `tool_call`, or a type of your own. */
  readonly type: string
  /** The task, in the executor's own terms: `{ task_type, prompt, input_variables, … }`. */
  readonly task: Readonly<Record<string, unknown>>
  readonly context?: TaskRequest['context']
  /** The same in the spelling of the executor contract: `{ project_id, conversation_snippet, retrieved_documents }`. */
  readonly execution_context?: unknown
  /** An unknown key is refused. */
  readonly constraints?: ConstraintsSource | WireConstraints
  /** Tried in this order. Absent: the allowed models. */
  readonly models?: readonly string[]
  /** What to do with an incomplete result: accept it (default), continue from it, or fail. */
  readonly onPartial?: OnPartial
  readonly effect?: Effect
  readonly retry?: Partial<RetryPolicy>
}

export interface FetchOptions extends StepOptions, Pick<RunOptions, 'effect' | 'retry' | 'timeout' | 'target'> {
  /** Default: GET. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** A body in JSON; sets the content type. */
  readonly json?: unknown
}

export interface FetchAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

export interface WaitOptions extends StepOptions {
  readonly event?: string
  readonly anyOf?: readonly string[]
  readonly allOf?: readonly string[]
  /** A path such as `payload.id` whose value must be equal in the event and in the run's trigger. */
  readonly match?: string
  /** A CEL condition over `event`, `payload` (its data) and `trigger`. */
  readonly if?: string
  readonly timeout?: Duration
  /** How far back an event may lie: since the run's trigger (default), not at all, or a length of time. */
  readonly lookback?: 'run' | 'none' | Duration
  /** How many events end the wait: the first (default), or all that have arrived by then, in order. Not with `allOf`. */
  readonly take?: 'one' | 'all'
  /** With `take: 'all'`: the most events to take; the others are left to the next wait. Default and maximum: 1000. */
  readonly max?: number
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
  emit(
    name: string,
    events: OutgoingEvent | readonly OutgoingEvent[],
    options?: StepOptions,
  ): Promise<readonly string[]>
}

export interface InvokeStepOptions extends StepOptions {
  /** What happens to the child if this run ends first: `cancel` (default), or `detach`, which lets it continue. */
  readonly onParentEnd?: OnParentEnd
  /** `none`: the call skips the flow control of its handler (throttle, pause, idempotency, overlap, rate limit, concurrency). */
  readonly gate?: CallGate
}

export interface HumanStepOptions extends StepOptions {
  /** The answer that asked for a revision: the same task comes back with new content. */
  readonly revises?: AskReply
  /** The person who requested this, if any: `separation: 'requester'` keeps them from deciding. */
  readonly requester?: string
}

export interface OutgoingEvent {
  readonly type: string
  readonly data?: unknown
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
