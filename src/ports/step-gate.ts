/**
 * What a running handler may ask of the engine: durable steps, by address. The engine's side of `step.run` and its sisters.
 *
 * step-port-1  An answer is given only after the fact it rests on is in the ledger; a finished step answers from the ledger.
 * step-port-2  A promise of a run that was parked, fenced or cancelled never settles: its code simply does not go on.
 */
import type { CallTerms } from '#model/agent/call-terms.ts'
import type { VerifiedUsage } from '#model/agent/usage.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { Telling } from '#model/event/lifecycle.ts'
import type { RetryPolicy } from '#model/flow/policies/retry.ts'
import type { Instant, RunId, TaskId, TenantId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { KeyedRow } from '#model/kernel/row-filter.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { Effect } from '#model/run/step.ts'
import type { TaskSpec } from '#model/task/spec.ts'
import type { TaskAnswer } from '#model/task/view.ts'
import type { Constraints, ExecutionContext } from './executor.ts'
import type { Delta } from './model.ts'

export interface StepGate {
  /** What the ledger holds of a step: nothing, an answer that is not there yet, or one that is. Asks nobody. */
  stateOf(step: string): 'none' | 'open' | 'settled'
  /** The answer of a step that has ended well, if it is at hand, as if it had been asked for; else null. Begins nothing. */
  valueOf(step: string): { readonly value: Json } | null
  run(request: StepRequest): Promise<Json>
  /** A task for an executor that is registered under a type. */
  perform(request: TaskRequest): Promise<TaskOutcome>
  /** Settles once that instant has passed by the ledger. */
  sleepUntil(step: string, instant: (now: Instant) => Instant): Promise<void>
  waitForEvent(step: string, request: WaitRequest): Promise<WaitAnswer>
  /** Runs another handler as a child and gives its output, or throws StepFailure. What is told is told with its start. */
  invoke(step: string, handler: string, input: Json, options?: InvokeOptions): Promise<Json>
  emit(step: string, events: readonly EmittedEvent[]): Promise<readonly string[]>
  /** Asks people and gives their answer: a task that is born with the step. Throws StepFailure if it was withdrawn. */
  ask(step: string, request: AskRequest): Promise<AskReply>
  /** Tells of the work itself, as a step of its own; does nothing if nobody listens. */
  tell(step: string, telling: Telling): Promise<void>
}

export interface InvokeOptions {
  readonly tells?: Telling
  /** The address of a call of this run that failed: its child is retried, and no other begins. */
  readonly retries?: string
  /** What becomes of the child if this run ends first. Default: cancel. */
  readonly onParentEnd?: OnParentEnd
  /** `none`: the child does not pass the flow control of its handler. */
  readonly gate?: CallGate
  /** What is asked of the child beside its input. */
  readonly terms?: CallTerms
}

export type CallGate = 'none'

export type OnParentEnd = 'cancel' | 'detach'

export interface AskRequest {
  readonly spec: TaskSpec
  /** The task that waits for a revision, and the revision that was answered: it comes back, instead of a new one. */
  readonly revises?: { readonly task: TaskId; readonly revision: number }
  /** Told with the task's birth, which it then names. */
  readonly tells?: Telling
}

export interface AskReply extends TaskAnswer {
  readonly task: TaskId
}

export interface StepRequest {
  readonly step: string
  readonly effect: Effect
  readonly retry: RetryPolicy
  readonly timeoutMs: number
  readonly body: (context: StepContext) => unknown
  /** Performed in its place while the breaker of the function is open and says so. */
  readonly fallback?: ((context: StepContext) => unknown) | undefined
  /** Shown to people if it is not known whether a `once` effect happened. Absent: what the run works on is. */
  readonly input?: unknown
  readonly target?: string | undefined
}

/** A step that is data: no code comes along, so whoever performs it may be anywhere. */
export interface TaskRequest {
  readonly step: string
  readonly effect: Effect
  readonly retry: RetryPolicy
  readonly executorType: string
  readonly task: { readonly type: string; readonly input: Json }
  readonly context: Pick<ExecutionContext, 'projectId' | 'conversation' | 'documents'>
  /** What the caller wants; what its function may have is stricter, if it says so. */
  readonly constraints: Constraints
  /** To be asked in this order, the next one when one has been given up. Empty: the executor's own. */
  readonly models: readonly string[]
  readonly onPartial: OnPartial
}

/** A partial result counts, is gone on from, or is a failure. */
export type OnPartial = 'accept' | 'continue' | 'fail'

export interface TaskOutcome {
  readonly status: 'success' | 'partial'
  readonly result: Json
  /** Of all attempts, as it counts. */
  readonly usage: VerifiedUsage
  readonly modelUsed: string | null
  /** A report that did not hold: our figure counts. */
  readonly usageDisputed: boolean
}

/** What the code of one step gets. Intents are written with the step's result, or not at all. */
export interface StepContext {
  readonly attempt: number
  /** One key for every attempt of this step, to send to outside systems as their idempotency key. */
  readonly effectKey: string
  readonly signal: AbortSignal
  /**
   * Whether this attempt may still act: false after its run was cancelled or taken over, or its time is up. Call it right before an
   * effect that must not happen twice: a process that was stopped and goes on learns here that another has its run.
   */
  stillMine(): Promise<boolean>
  emit(type: string, data: Json, options?: { readonly subject?: string }): void
  /** Puts a document into a managed table; null removes it. */
  write(table: string, key: string, value: Json): void
  /** Changes the session's memory; null removes the key. */
  remember(key: string, value: Json): void
  /** Told to whoever listens to the run, now: provisional, and kept nowhere. What counts is the step's result. */
  tell(delta: Delta): void
}

export interface WaitRequest {
  readonly mode: 'any' | 'all'
  readonly types: readonly string[]
  readonly match: string | null
  readonly condition: string | null
  readonly timeoutMs: number | null
  readonly lookback:
    | { readonly kind: 'run' }
    | { readonly kind: 'none' }
    | { readonly kind: 'within'; readonly ms: number }
  /** So many events at most are received at once, all that are there; null: one. */
  readonly most: number | null
  /** It looks at every event, also at those that other waits of the run have received. */
  readonly isShared: boolean
}

export interface WaitAnswer {
  readonly status: 'received' | 'timed_out'
  readonly events: readonly StoredEvent[]
  readonly missing: readonly string[]
}

export interface EmittedEvent {
  readonly type: string
  readonly data: Json
  readonly subject: string | null
  /** Not there before so long after. */
  readonly delayMs?: number
}

/** What a run that a schedule started knows of it. */
export interface ScheduleContext {
  readonly name: string
  readonly slot: Instant
  /** The run before it; null for the first. */
  readonly last: {
    readonly run: RunId
    readonly slot: Instant
    readonly status: RunStatus
    readonly output: Json | null
  } | null
  /** Slots without a run of their own that this run stands for. */
  readonly missed: { readonly from: Instant; readonly to: Instant; readonly count: number } | null
}

/** A step of an entity's life. `version` counts the moves before it. */
export interface EntityMove {
  readonly table: string
  readonly key: string
  readonly entity: string
  readonly version: number
  readonly from: string
  readonly to: string
}

/** What a handler is given when it is entered. */
export interface Entry {
  readonly run: RunId
  readonly tenant: TenantId
  readonly attempt: number
  /** How often the run was retried after an end. */
  readonly life: number
  readonly input: Json
  readonly event: StoredEvent | null
  /** All events that started the run: several if they were gathered. */
  readonly events: readonly StoredEvent[]
  /** The people whose credentials began the chain that the run stands in. */
  readonly requesters: readonly string[]
  /** Why and for which slot, if a schedule started it. */
  readonly schedule: ScheduleContext | null
  readonly gate: StepGate
  /** The same with this gate before its own. */
  behind(gate: StepGate): Entry
  /** One key for the whole run, for handlers that are a single step. */
  effectKey(): string
  recall(key: string): Promise<Json | null>
  emit(event: EmittedEvent): void
  /** An intent: written with the handler's result, or not at all; null removes it. */
  write(table: string, key: string, value: Json): void
  /**
   * Moves an entity on, now, and not with the result. `next` judges what is kept of it, and answers the move, or null: none is to be made.
   * It is asked again when another has moved the entity meanwhile. Moves of one entity take turns in this process.
   */
  move(entity: Pick<EntityMove, 'table' | 'key'>, next: (kept: Json | null) => EntityMove | null): Promise<void>
  /** What its end tells besides: usage, cost. */
  report(said: { readonly [name: string]: Json }): void
  /** Whether anybody would hear a lifecycle event of this type. */
  isToldOf(type: string): boolean
  /** Whether it has sent an event so far, in any entry. */
  hasTold(): boolean
  /** Keeps the run in memory until this work is over: its code is about to go on, somewhere that the gate does not see. */
  whileActive<T>(work: () => Promise<T>): Promise<T>
  /** Asks for the end of the run, as a person would. What is at work is told to stop. */
  cancel(reason: string): void
  /** One document, as it is now. */
  document(table: string, key: string): Promise<Json | null>
  /** A page of a table, in the order of keys, after this one. */
  documents(table: string, after: string | null, limit: number): Promise<readonly KeyedRow[]>
}
