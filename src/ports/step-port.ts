/**
 * The calls that a running handler may make to the engine: durable steps, by address. The engine's side of `step.run` and the other steps.
 *
 * step-port-1  An answer is given only after the fact that it is based on is in the ledger; a finished step answers from the ledger.
 * step-port-2  A promise of a run that was parked, fenced or cancelled never settles: the code after it does not run.
 */
import type { CallTerms } from '#model/agent/call-terms.ts'
import type { VerifiedUsage } from '#model/agent/usage.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { LifecycleReport } from '#model/event/lifecycle.ts'
import type { RetryPolicy } from '#model/flow/policies/retry.ts'
import type { Instant, RunId, TaskId, TenantId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { KeyedRow } from '#model/kernel/row-filter.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { Effect } from '#model/run/step.ts'
import type { TaskSpec } from '#model/task/spec.ts'
import type { TaskAnswer } from '#model/task/view.ts'
import type { Constraints, ExecutionContext } from './executor.ts'
import type { Chunk } from './model.ts'

export interface StepPort {
  /** Returns what the ledger holds of a step: no step, a step without an answer yet, or a step with one. Starts nothing. */
  stateOf(step: string): 'none' | 'open' | 'settled'
  /** Returns the answer of a step that has ended well, if it is in memory, as if it had been asked for; else null. Starts nothing. */
  valueOf(step: string): { readonly value: Json } | null
  run(request: StepRequest): Promise<Json>
  /** A task for an executor that is registered under a type. */
  perform(request: TaskRequest): Promise<TaskOutcome>
  /** Settles once the ledger records that the instant has passed. */
  sleepUntil(step: string, instant: (now: Instant) => Instant): Promise<void>
  waitForEvent(step: string, request: WaitRequest): Promise<WaitAnswer>
  /** Runs another handler as a child and returns its output, or throws StepFailure. The event in `reports` is emitted with its start. */
  invoke(step: string, handler: string, input: Json, options?: InvokeOptions): Promise<Json>
  emit(step: string, events: readonly EmittedEvent[]): Promise<readonly string[]>
  /** Asks people and returns their answer: the task is created with the step. Throws StepFailure if the task was withdrawn. */
  ask(step: string, request: AskRequest): Promise<AskReply>
  /** Emits a lifecycle event as a step of its own; does nothing if the event has no listener. */
  report(step: string, lifecycle: LifecycleReport): Promise<void>
}

export interface InvokeOptions {
  readonly reports?: LifecycleReport
  /** The address of a call of this run that failed: its child is retried, and no new child starts. */
  readonly retries?: string
  /** What becomes of the child if this run ends first. Default: cancel. */
  readonly onParentEnd?: OnParentEnd
  /** `none`: the child does not pass the flow control of its handler. */
  readonly gate?: CallGate
  /** Terms that the child is given in addition to its input. */
  readonly terms?: CallTerms
}

export type CallGate = 'none'

export type OnParentEnd = 'cancel' | 'detach'

export interface AskRequest {
  readonly spec: TaskSpec
  /** The task that waits for a revision, and the revision that was answered: the task is submitted again, and no new one is created. */
  readonly revises?: { readonly task: TaskId; readonly revision: number }
  /** A lifecycle event that is emitted with the creation of the task; it then names the task. */
  readonly reports?: LifecycleReport
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
  /** Performed instead of `body` while the breaker of the function is open and asks for it. */
  readonly fallback?: ((context: StepContext) => unknown) | undefined
  /** Shown to people if it is not known whether a `once` effect happened. Absent: the run's input is shown. */
  readonly input?: unknown
  readonly target?: string | undefined
}

/** A step that is data: it contains no code, so the executor that performs it may be anywhere. */
export interface TaskRequest {
  readonly step: string
  readonly effect: Effect
  readonly retry: RetryPolicy
  readonly executorType: string
  readonly task: { readonly type: string; readonly input: Json }
  readonly context: Pick<ExecutionContext, 'projectId' | 'conversation' | 'documents'>
  /** The limits that the caller asks for; the function's own limits apply where they are stricter. */
  readonly constraints: Constraints
  /** The models to ask, in this order: the next one when one has been given up. Empty: the executor's own. */
  readonly models: readonly string[]
  readonly onPartial: OnPartial
}

/** A partial result is accepted, continued, or treated as a failure. */
export type OnPartial = 'accept' | 'continue' | 'fail'

export interface TaskOutcome {
  readonly status: 'success' | 'partial'
  readonly result: Json
  /** The usage of all attempts, as it counts. */
  readonly usage: VerifiedUsage
  readonly modelUsed: string | null
  /** The reported usage did not hold: our own figure counts. */
  readonly usageDisputed: boolean
}

/** Passed to the code of one step. Intents are written with the step's result, or not at all. */
export interface StepContext {
  /** Which attempt of the step this is, from 1. */
  readonly attempt: number
  /** One key for every attempt of this step, to send to outside systems as their idempotency key. */
  readonly effectKey: string
  /** Aborted when the attempt should stop: its run was cancelled or taken over, or its time is up. */
  readonly signal: AbortSignal
  /**
   * Returns whether this attempt may still act: false after its run was cancelled or taken over, or its time is up. Call it right before an
   * effect that must not happen twice: a process that was paused and continues learns here that another process has its run.
   */
  stillMine(): Promise<boolean>
  /** Sends an event with the step's result. */
  emit(type: string, data: Json, options?: { readonly subject?: string }): void
  /** Puts a document into a managed table; null removes it. */
  write(table: string, key: string, value: Json): void
  /** Changes the session's memory; null removes the key. */
  remember(key: string, value: Json): void
  /** Sends a delta to the listeners of the run, at once: it is provisional, and stored nowhere. Only the step's result counts. */
  tell(delta: Chunk): void
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
  /** At most this many of the events that are there are received at once; null: one. */
  readonly most: number | null
  /** The wait looks at every event, also at those that other waits of the run have received. */
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
  /** Delay before the event becomes visible, in milliseconds. Default: none. */
  readonly delayMs?: number
}

/** What a run that a schedule started knows about that schedule. */
export interface ScheduleContext {
  readonly name: string
  readonly slot: Instant
  /** The previous run; null for the first. */
  readonly last: {
    readonly run: RunId
    readonly slot: Instant
    readonly status: RunStatus
    readonly output: Json | null
  } | null
  /** Slots without a run of their own that this run covers. */
  readonly missed: { readonly from: Instant; readonly to: Instant; readonly count: number } | null
}

/** One transition of an entity. `version` counts the transitions before it. */
export interface EntityMove {
  readonly table: string
  readonly key: string
  readonly entity: string
  readonly version: number
  readonly from: string
  readonly to: string
}

/** Passed to a handler when it is entered. */
export interface Entry {
  readonly run: RunId
  readonly tenant: TenantId
  readonly attempt: number
  /** How often the run was retried after it had ended. */
  readonly life: number
  readonly input: Json
  readonly event: StoredEvent | null
  /** All events that started the run: several if they were batched. */
  readonly events: readonly StoredEvent[]
  /** The people whose credentials started the chain of runs that this run belongs to. */
  readonly requesters: readonly string[]
  /** The schedule and the slot, if a schedule started the run. */
  readonly schedule: ScheduleContext | null
  readonly gate: StepPort
  /** Returns the same entry with this gate in front of its own. */
  behind(gate: StepPort): Entry
  /** One key for the whole run, for handlers that are a single step. */
  effectKey(): string
  recall(key: string): Promise<Json | null>
  emit(event: EmittedEvent): void
  /** An intent: written with the handler's result, or not at all; null removes it. */
  write(table: string, key: string, value: Json): void
  /**
   * Moves an entity to its next state now, and not with the result. `next` looks at the stored entity and returns the move, or null to make
   * none. It is called again when another writer has moved the entity meanwhile. Moves of one entity run one after the other in this
   * process.
   */
  move(entity: Pick<EntityMove, 'table' | 'key'>, next: (kept: Json | null) => EntityMove | null): Promise<void>
  /** Sets data that the event of the run's end carries in addition: usage, cost. */
  report(said: { readonly [name: string]: Json }): void
  /** Returns whether a lifecycle event of this type would have a listener. */
  isToldOf(type: string): boolean
  /** Returns whether the run has sent an event so far, in any entry. */
  hasTold(): boolean
  /** Keeps the run in memory until this work is over: its code is about to continue, in a place that the gate does not see. */
  whileActive<T>(work: () => Promise<T>): Promise<T>
  /** Asks for the end of the run, as a person would. Work in progress is asked to stop. */
  cancel(reason: string): void
  /** Returns one document, as it is now. */
  document(table: string, key: string): Promise<Json | null>
  /** Returns a page of a table, ordered by key, after this key. */
  documents(table: string, after: string | null, limit: number): Promise<readonly KeyedRow[]>
}
