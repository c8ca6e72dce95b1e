/**
 * The vocabulary of a run: its facts, the commands that ask for them, and its states.
 *
 * Owns only the types. The rules are in run.ts, attempt.ts and waiting.ts.
 */
import type { Kind } from '#model/access/identity.ts'
import type { CallTerms } from '#model/agent/call-terms.ts'
import type { Consumed } from '#model/event/consumed.ts'
import type { Cause } from '#model/event/event.ts'
import type { Received, WaitSpec } from '#model/event/wait.ts'
import type { RetryPolicy } from '#model/flow/policies/retry.ts'
import type { Failure } from '#model/kernel/errors.ts'
import type { ChildId, Instant, RunId, TaskId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Payload } from '#model/kernel/payload.ts'
import type { PersistentMap } from '#model/kernel/persistent-map.ts'
import type { DbWrite } from './outcome.ts'
import type { RunStatus } from './status.ts'
import type { ChildCall, Effect, Evidence, OpenStep, Performer, RunCall, SettledStep } from './step.ts'

/** Where the input is stored: in the triggering event, in the events that the run was started for together, or in the fact. */
export type RunInput =
  | { readonly kind: 'event' }
  | { readonly kind: 'events'; readonly sequences: readonly number[] }
  | { readonly kind: 'given'; readonly payload: Payload }
  | { readonly kind: 'scheduled'; readonly payload: Payload; readonly occasion: Occasion }

/** Why a schedule started this run, and how the run before it ended. */
export interface Occasion {
  readonly schedule: string
  readonly slot: Instant
  readonly last: {
    readonly run: RunId
    readonly slot: Instant
    readonly status: RunStatus
    readonly output: Payload | null
  } | null
  /** Other slots that this run replaces. */
  readonly missed: { readonly from: Instant; readonly to: Instant; readonly count: number } | null
}

/** The run that this one repeats, and what it takes over from it. */
export interface RerunOf {
  readonly of: RunId
  /** The first step that is executed again; null: all are. */
  readonly from: string | null
  readonly by: string
  /** The event that triggered the old run. An event triggers one run of a handler, so the row of this run names none. */
  readonly trigger: number | null
  /** People's earlier decisions are reused where the run would ask them the same. */
  readonly decisions: boolean
}

/** A settled step of another run, and where it was recorded. */
export interface ReusedStep {
  readonly step: string
  readonly of: RunId
  readonly seq: number
  readonly settled: SettledStep
  /** The step has sent events with its result. */
  readonly told?: true
}

export interface RunStart {
  readonly handler: string
  readonly input: RunInput
  /** Null: the cause is the triggering event's. */
  readonly cause: Cause | null
  readonly parentStep: string | null
  readonly depth: number
  readonly deadlineAt: Instant | null
  readonly startBy: Instant | null
  readonly rerun?: RerunOf
  /** The address outside that is notified of its end. */
  readonly callback?: string
  /** The end of its parent does not end it. Absent: it does. */
  readonly onParentEnd?: 'detach'
  /** What its caller demands besides its input. */
  readonly terms?: CallTerms
}

export type Verdict = 'happened' | 'run_again' | 'abort'

/** The end of a child as its parent sees it. `open`: a task that has answered and waits for a revision. */
export type ChildEnd =
  | { readonly kind: 'done'; readonly result: Payload; readonly open?: true }
  | { readonly kind: 'failed'; readonly error: Failure }

type At = { readonly at: Instant }
type OnStep = At & { readonly step: string }

export type RunFact =
  | (At & { readonly type: 'run.started' } & RunStart)
  | (At & {
      readonly type: 'run.retry_scheduled'
      readonly attempt: number
      readonly error: Failure
      readonly wakeAt: Instant
    })
  | (At & { readonly type: 'run.retry_due' })
  | (At & { readonly type: 'run.paused'; readonly by: string; readonly reason: string | null })
  | (At & { readonly type: 'run.resumed'; readonly by: string })
  /** Its handler was entered for the first time: recorded only for a run that must begin by an instant. */
  | (At & { readonly type: 'run.entered' })
  /** Another version of the code continues it (model/worker/pin.ts). */
  | (At & { readonly type: 'run.handed_over'; readonly from: string; readonly to: string })
  | (At & { readonly type: 'run.cancel_requested'; readonly by: string; readonly error: Failure })
  | (At & {
      readonly type: 'run.completed'
      readonly status: 'success' | 'partial'
      readonly output: Payload
      readonly events?: readonly string[]
      /** Rows that were written with it; absent: none. */
      readonly writes?: readonly DbWrite[]
    })
  | (At & { readonly type: 'run.failed'; readonly error: Failure })
  | (At & { readonly type: 'run.cancelled'; readonly error: Failure })
  | (At & { readonly type: 'run.expired'; readonly error: Failure })
  | (At & { readonly type: 'run.quarantined'; readonly error: Failure })
  /**
   * A retry, which begins a new life. `kind`: the kind of `by`; absent: a person. `call`: the call of its parent that requested it
   * (model/run/child-retry.ts); absent: it was retried by itself. `limits`: instants of the new life; absent: it has none, or an older version
   * wrote the fact. `heard`: the last `cancel_on` event before the request. `anew`: waits that timed out and begin again.
   */
  | (At & {
      readonly type: 'run.retried'
      readonly by: string
      readonly kind?: Kind
      readonly call?: string
      readonly limits?: Limits
      readonly heard?: number
      readonly anew?: readonly string[]
    })
  | (OnStep & {
      readonly type: 'step.intended'
      readonly attempt: number
      readonly effectKey: string
      readonly performer?: Performer
      readonly evidence?: Evidence
    })
  | (OnStep & {
      readonly type: 'step.completed'
      readonly attempt: number
      readonly result: Payload
      readonly events?: readonly string[]
    })
  | (OnStep & {
      readonly type: 'step.retry_scheduled'
      readonly attempt: number
      readonly error: Failure
      readonly wakeAt: Instant
      /** What it leaves for the next attempt: where it stopped, which model is next, what it has spent. */
      readonly carry?: Json
    })
  | (OnStep & { readonly type: 'step.retry_due' })
  | (OnStep & {
      readonly type: 'step.failed'
      readonly attempt: number
      readonly error: Failure
      readonly carry?: Json
    })
  | (OnStep & {
      readonly type: 'step.uncertain'
      readonly attempt: number
      readonly reason: string
      /** The task that asks a person about it. */
      readonly task?: TaskId
      /** Finished steps of effect `once` that the code did not ask for. */
      readonly instead?: readonly string[]
      /** The attempt can have no further effect. */
      readonly over?: true
    })
  | (OnStep & {
      readonly type: 'step.resolved'
      readonly verdict: Verdict
      readonly by: string
      readonly result: Payload | null
      /** The person was warned that the attempt before might still act, and acknowledged the warning. */
      readonly warned?: true
    })
  | (OnStep & {
      readonly type: 'step.late_result'
      readonly attempt: number
      readonly result: Payload | null
      readonly error: Failure | null
      /** The attempt that it belongs to, by the performer in its intent. */
      readonly performer?: string
    })
  /** The result was taken over from the run that this one repeats. */
  | (At & { readonly type: 'step.reused' } & ReusedStep)
  | (OnStep & { readonly type: 'timer.set'; readonly wakeAt: Instant })
  | (OnStep & { readonly type: 'timer.fired' })
  | (OnStep & { readonly type: 'wait.opened'; readonly wait: WaitSpec })
  /** `others`: received together with it. */
  | (OnStep & { readonly type: 'wait.received'; readonly event: Received; readonly others?: readonly Received[] })
  | (OnStep & { readonly type: 'wait.timed_out' })
  | (OnStep & { readonly type: 'child.started'; readonly child: ChildId } & ChildCall)
  | (OnStep & { readonly type: 'child.ended'; readonly child: ChildId; readonly end: ChildEnd })

export type RunFactType = RunFact['type']

type Now = { readonly now: Instant }
type ToStep = Now & { readonly step: string }

/** Commands that a run accepts whether or not it was cancelled. */
type LifeCommand =
  /** `reuse`: steps that are settled before it begins. */
  | (Now & { readonly type: 'start_run'; readonly start: RunStart; readonly reuse?: readonly ReusedStep[] })
  /** `idle`: no worker executes a step of this run now, so the cancel can be final at once if no child is open. */
  | (Now & { readonly type: 'cancel_run'; readonly by: string; readonly error: Failure; readonly idle: boolean })
  /** The holder has stopped its own work; children are known from the state. */
  | (Now & { readonly type: 'confirm_cancel' })
  /** `kind`: the kind of `by`. Absent: a person. `call`, `heard`, `anew`: as in the fact. */
  | (Now & {
      readonly type: 'retry_run'
      readonly by: string
      readonly kind?: Kind
      readonly call?: string
      readonly heard?: number
      readonly anew?: readonly string[]
    })
  | (Now & { readonly type: 'pause_run'; readonly by: string; readonly reason: string | null })
  | (Now & { readonly type: 'resume_run'; readonly by: string })
  /** The holder is about to enter the handler. */
  | (Now & { readonly type: 'enter_run' })
  | (Now & { readonly type: 'hand_over'; readonly from: string; readonly to: string })
  | (Now & { readonly type: 'quarantine_run'; readonly error: Failure })
  | (ToStep & {
      readonly type: 'report_late'
      readonly attempt: number
      readonly result: Payload | null
      readonly error: Failure | null
      readonly performer?: string
    })
  | (ToStep & { readonly type: 'end_child'; readonly child: ChildId; readonly end: ChildEnd })

/** Commands of a run at work: after a cancel they are refused, or their results are kept as evidence (run-2). */
export type WorkCommand =
  | (Now & {
      readonly type: 'finish_run'
      readonly status: 'success' | 'partial'
      readonly output: Payload
      readonly events: readonly string[]
      readonly writes?: readonly DbWrite[]
    })
  | (Now & {
      readonly type: 'fail_run'
      readonly error: Failure
      readonly retryable: boolean
      readonly retry: RetryPolicy
      readonly roll: number
    })
  | (Now & { readonly type: 'pass_time' })
  | (ToStep & {
      readonly type: 'intend_step'
      readonly effectKey: string
      readonly performer?: Performer
      readonly evidence?: Evidence
    })
  | (ToStep & {
      readonly type: 'complete_step'
      readonly attempt: number
      readonly result: Payload
      readonly events: readonly string[]
    })
  | (ToStep & {
      readonly type: 'fail_step'
      readonly attempt: number
      readonly error: Failure
      readonly retryable: boolean
      /** For `once`: the effect is known not to have happened. */
      readonly definite: boolean
      /** The task that asks a person if the outcome is uncertain. */
      readonly task?: TaskId
      /** It was asked to stop and has not answered: its code may still be at work. */
      readonly unanswered?: true
      readonly effect: Effect
      readonly retry: RetryPolicy
      readonly roll: number
      /** The next attempt waits at least until this instant. */
      readonly notBefore?: Instant
      readonly carry?: Json
    })
  /** The performer of this intended step is gone; it is unknown whether its effect happened. */
  | (ToStep & {
      readonly type: 'mark_uncertain'
      readonly reason: string
      readonly task?: TaskId
      readonly instead?: readonly string[]
      /** The process of the performer is known to have ended. */
      readonly isGone: boolean
    })
  | (ToStep & {
      readonly type: 'resolve_step'
      readonly verdict: Verdict
      readonly by: string
      readonly result: Payload | null
      /** The task on which the decision was made: there is no other way. */
      readonly task: TaskId
      readonly warned?: true
    })
  | (Now & { readonly type: 'reuse_step' } & ReusedStep)
  | (ToStep & { readonly type: 'set_timer'; readonly wakeAt: Instant })
  | (ToStep & { readonly type: 'open_wait'; readonly wait: WaitSpec })
  | (ToStep & {
      readonly type: 'receive_event'
      readonly event: Received
      /** Further events, for a wait that receives all that are available. */
      readonly others?: readonly Received[]
      /** Earlier events that were left to other waits of the run. */
      readonly passed?: readonly number[]
    })
  | (ToStep & { readonly type: 'start_child'; readonly child: ChildId } & ChildCall)

export type RunCommand = LifeCommand | WorkCommand

/** The instants by which a life must have begun, and ended. */
export type Limits = Pick<RunStart, 'startBy' | 'deadlineAt'>

/** How its current life began. */
export interface Retried {
  /** How many lives it has had before. */
  readonly times: number
  readonly at: Instant
  readonly by: string
  readonly kind: Kind
  /** Null: it was retried by itself, whatever its parent does. */
  readonly call: string | null
}

export interface LiveRun {
  readonly kind: 'live'
  readonly start: RunStart
  readonly startedAt: Instant
  /** Null: it is in its first life. */
  readonly retried: Retried | null
  /** Failed attempts of the handler. */
  readonly failures: number
  readonly retryAt: Instant | null
  /** A step has sent events with its result. */
  readonly hasTold: boolean
  /** The version of the code that it was last handed over to; null: the one that it began with. */
  readonly version: string | null
  readonly cancel: { readonly by: string; readonly error: Failure } | null
  readonly pause: { readonly by: string; readonly reason: string | null } | null
  /** Tasks that it has asked and that are not over, as far as it knows. */
  readonly tasks: readonly TaskId[]
  /** Calls of the life before, by step: a repeated call continues the same run (model/run/child-retry.ts). */
  readonly recalls: PersistentMap<string, RunCall>
  readonly open: PersistentMap<string, OpenStep>
  readonly settled: PersistentMap<string, SettledStep>
  /** Earlier attempts that may still act: a person let the step run again, and the attempt has not reported since. */
  readonly frozen: PersistentMap<string, readonly Performer[]>
  readonly consumed: Consumed
}

export interface EndedRun {
  readonly kind: 'ended'
  readonly status: RunStatus
  readonly output: Payload | null
  readonly error: Failure | null
  /** Kept whole, so that a retry can continue where the run stopped. */
  readonly last: LiveRun
}

export type RunState = { readonly kind: 'none' } | LiveRun | EndedRun
