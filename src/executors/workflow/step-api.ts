/**
 * `step.run` and its sisters, as a function's author writes them.
 *
 * Owns the words that authors use and what they mean to them. How a call becomes a request is steps.ts.
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
  StepGate,
  TaskOutcome,
  TaskRequest,
} from '#ports/step-gate.ts'
import type { ToolContext } from '#ports/tool.ts'

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
  /** What the step works on. People see it if it is not known whether a `once` effect happened. Default: the input of the run. */
  readonly input?: unknown
  /** What a `once` effect acts on, as `payments.example.com` or `invoice 17`: people know where to look. */
  readonly target?: string
}

export interface ExecuteOptions extends StepOptions {
  /** `llm`, `template_engine`, `document_processor`, `classifier`, `tool_call`, or a type of your own. */
  readonly type: string
  /** What to do, in the words of the executor: `{ task_type, prompt, input_variables, … }`. */
  readonly task: Readonly<Record<string, unknown>>
  readonly context?: TaskRequest['context']
  /** The same in the spelling of the executor contract: `{ project_id, conversation_snippet, retrieved_documents }`. */
  readonly execution_context?: unknown
  /** A key that is none of them is refused. */
  readonly constraints?: ConstraintsSource | WireConstraints
  /** To be asked in this order. Absent: the allowed ones. */
  readonly models?: readonly string[]
  /** What an incomplete result is: good enough (default), a place to go on from, or a failure. */
  readonly onPartial?: OnPartial
  readonly effect?: Effect
  readonly retry?: Partial<RetryPolicy>
}

export interface FetchOptions extends StepOptions, Pick<RunOptions, 'effect' | 'retry' | 'timeout' | 'target'> {
  /** Default: GET. */
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** A body in JSON, with its content type. */
  readonly json?: unknown
}

export interface FetchAnswer {
  readonly status: number
  /** In lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
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
  /** How many events end the wait: the first (default), or all that are there when there is one, in order. Not with `allOf`. */
  readonly take?: 'one' | 'all'
  /** With `take: 'all'`: so many at most; the others are left to the next wait. Default and highest: 1000. */
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
  /** A task for an executor that is registered under a type; the engine retries, falls back and looks at what it says it used. */
  execute(name: string, options: ExecuteOptions): Promise<TaskOutcome>
  /**
   * One HTTP request as a step: its answer is recorded, and later entries get the recorded one. To hosts that the module allows
   * (`allow.hosts`, with the operation `api_call`), never into the own network. 408, 429 and 5xx fail the attempt, which is retried;
   * any other status is an answer. Unless it is GET, HEAD or OPTIONS the request carries the header `Idempotency-Key`: the same for every attempt.
   */
  fetch(name: string, url: string | URL, options?: FetchOptions): Promise<FetchAnswer>
  /** A value of the environment by its name. The module must allow it (`allow.secrets`). Asked in every entry, recorded nowhere. */
  secret(name: string): Promise<string>
  sleep(name: string, duration: Duration, options?: StepOptions): Promise<void>
  /** An instant is a date, or milliseconds since the Unix epoch. */
  sleepUntil(name: string, instant: number | { valueOf(): number }, options?: StepOptions): Promise<void>
  /**
   * Never throws for a timeout: look at `status`. An event sent before the wait counts. Each event counts once per run, first in first
   * out: three waits in a row for one type get the first, the second and the third event.
   */
  waitForEvent(name: string, options: WaitOptions): Promise<WaitResult>
  /** Another function of the system as a child run; its failure is thrown as StepFailure. */
  invoke(name: string, handler: string, input?: unknown, options?: InvokeStepOptions): Promise<Json>
  /** Asks people and gives their answer, days later if need be. What they may do and by when is in the task. */
  human(name: string, task: TaskOptions, options?: HumanStepOptions): Promise<AskReply>
  emit(
    name: string,
    events: OutgoingEvent | readonly OutgoingEvent[],
    options?: StepOptions,
  ): Promise<readonly string[]>
}

export interface InvokeStepOptions extends StepOptions {
  /** What becomes of the child if this run ends first: `cancel` (default), or `detach`, which lets it go on. */
  readonly onParentEnd?: OnParentEnd
  /** `none`: the call does not pass the flow control of its handler (throttle, pause, idempotency, overlap, rate limit, concurrency). */
  readonly gate?: CallGate
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

/** What only our own programs say with a call. */
export interface Retrying {
  /** What is asked of the run beside its input. */
  readonly terms?: CallTerms
  /** The failed call of the same name, by its loop key, whose child it retries. */
  readonly retries?: { readonly key: string | null }
}

/** The input of a call, made only if this entry begins it: what is called already needs none. */
export interface InputWhenBegun {
  readonly makeInput?: () => Json
}

/** What has ended, for programs of ours that need not wait for it. */
export interface Replayed {
  /** The output of the first call of this name, if it has ended well: it is not called again in this entry. Null: call and wait. */
  readonly ended?: (name: string) => { readonly value: Json } | null
}

/** What a step asks of people, checked. */
export type DefineTask = (name: string, options: TaskOptions) => Human

/** How words of an author become values, which are manifest's, and the way out: executors see neither. */
export interface Readers {
  readonly parse: ParseDuration
  readonly taskOf: DefineTask
  /** To whatever host this function may call. Absent: nothing is fetched here. */
  readonly fetchFor?: (limits: CodeLimits) => ToolContext['fetch']
  /** Of the environment; null: it is not set. Absent: there is none. */
  readonly secret?: (name: string) => string | null
}
