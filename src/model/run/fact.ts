/**
 * What can be said about a run: the facts that make it, the commands that ask for them, the states it can be in.
 *
 * Owns the words only. The rules are in run.ts, attempt.ts and waiting.ts.
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

/** Where the input is: with the event that triggered the run, with the events it was started for together, or in the fact. */
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
  /** Slots that this run stands for besides its own. */
  readonly missed: { readonly from: Instant; readonly to: Instant; readonly count: number } | null
}

/** Of which run this is another go, and what it takes from it. */
export interface RerunOf {
  readonly of: RunId
  /** Done again from this step on; null: from the beginning. */
  readonly from: string | null
  readonly by: string
  /** The event that the old run worked on: an event triggers one run of a handler, so the row of this one names none. */
  readonly trigger: number | null
  /** What people have decided counts again where they would be asked the same. */
  readonly decisions: boolean
}

/** A step's end as another run has recorded it, and where. */
export interface ReusedStep {
  readonly step: string
  readonly of: RunId
  readonly seq: number
  readonly settled: SettledStep
  /** It has sent events with its result. */
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
  /** Who outside is told of its end. */
  readonly callback?: string
  /** The end of its parent does not end it. Absent: it does. */
  readonly onParentEnd?: 'detach'
  /** What its caller asks of it beside its input. */
  readonly terms?: CallTerms
}

export type Verdict = 'happened' | 'run_again' | 'abort'

/** How a child ended, as its parent sees it. `open`: a task that has answered and waits for a revision. */
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
  /** Its handler was entered for the first time: recorded only of a run that had to begin by an instant. */
  | (At & { readonly type: 'run.entered' })
  /** Another version of the code goes on with it (model/worker/pin.ts). */
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
   * A new life. `kind`: what `by` is; absent: a person. `call`: the call of its parent that asked for it (model/run/child-retry.ts);
   * absent: it was retried by itself. `limits`: instants of the new life; absent: it has none, or an older version wrote it. `heard`: the
   * last event of `cancel_on` before it was asked for. `anew`: waits that timed out and begin anew.
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
      /** What it leaves to the next attempt: where it stopped, which model is next, what it has spent. */
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
      /** Asks a person about it. */
      readonly task?: TaskId
      /** Steps of effect `once` that are done and that the code did not ask for. */
      readonly instead?: readonly string[]
      /** Nothing of the attempt acts any more. */
      readonly over?: true
    })
  | (OnStep & {
      readonly type: 'step.resolved'
      readonly verdict: Verdict
      readonly by: string
      readonly result: Payload | null
      /** The person was warned that the attempt before might still act, and acknowledged it. */
      readonly warned?: true
    })
  | (OnStep & {
      readonly type: 'step.late_result'
      readonly attempt: number
      readonly result: Payload | null
      readonly error: Failure | null
      /** Of which attempt, as its intent names it. */
      readonly performer?: string
    })
  /** Answered by a result of the run that this is another go of. */
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

/** Commands that a run takes whether or not it was cancelled. */
type LifeCommand =
  /** `reuse`: steps that are finished before it begins. */
  | (Now & { readonly type: 'start_run'; readonly start: RunStart; readonly reuse?: readonly ReusedStep[] })
  /** `idle`: nobody performs a step of this run now, so the cancel can be final at once if no child is open. */
  | (Now & { readonly type: 'cancel_run'; readonly by: string; readonly error: Failure; readonly idle: boolean })
  /** The holder has stopped its own work; children are known from the state. */
  | (Now & { readonly type: 'confirm_cancel' })
  /** `kind`: what `by` is. Absent: a person. `call`, `heard`, `anew`: as in the fact. */
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

/** Commands of a run at work: after a cancel they are refused, or their results kept as evidence (run-2). */
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
      /** Asks a person if it comes to an uncertain outcome. */
      readonly task?: TaskId
      /** It was told to stop and has not answered: its code may still be at work. */
      readonly unanswered?: true
      readonly effect: Effect
      readonly retry: RetryPolicy
      readonly roll: number
      /** The next attempt waits at least until then. */
      readonly notBefore?: Instant
      readonly carry?: Json
    })
  /** The performer of this intended step is gone; nobody knows whether its effect happened. */
  | (ToStep & {
      readonly type: 'doubt_step'
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
      /** The task on which it was said: there is no other way. */
      readonly task: TaskId
      readonly warned?: true
    })
  | (Now & { readonly type: 'reuse_step' } & ReusedStep)
  | (ToStep & { readonly type: 'set_timer'; readonly wakeAt: Instant })
  | (ToStep & { readonly type: 'open_wait'; readonly wait: WaitSpec })
  | (ToStep & {
      readonly type: 'receive_event'
      readonly event: Received
      /** Further ones, for a wait that takes all that is there. */
      readonly others?: readonly Received[]
      /** Earlier events that were left to other waits of the run. */
      readonly passed?: readonly number[]
    })
  | (ToStep & { readonly type: 'start_child'; readonly child: ChildId } & ChildCall)

export type RunCommand = LifeCommand | WorkCommand

/** When a life must have begun, and ended. */
export type Limits = Pick<RunStart, 'startBy' | 'deadlineAt'>

/** How its present life began. */
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
  /** Attempts of the handler that failed. */
  readonly failures: number
  readonly retryAt: Instant | null
  /** A step has sent events with its result. */
  readonly hasTold: boolean
  /** The version of the code that it was handed to last; null: the one that it was born with. */
  readonly version: string | null
  readonly cancel: { readonly by: string; readonly error: Failure } | null
  readonly pause: { readonly by: string; readonly reason: string | null } | null
  /** Tasks that it has asked and that are not over, as far as it knows. */
  readonly tasks: readonly TaskId[]
  /** Calls of the life before, by step: made again, they go on with the same run (model/run/child-retry.ts). */
  readonly recalls: PersistentMap<string, RunCall>
  readonly open: PersistentMap<string, OpenStep>
  readonly settled: PersistentMap<string, SettledStep>
  /** Earlier attempts of steps, which a person let run again although they might still act, and of which nothing was heard since. */
  readonly frozen: PersistentMap<string, readonly Performer[]>
  readonly consumed: Consumed
}

export interface EndedRun {
  readonly kind: 'ended'
  readonly status: RunStatus
  readonly output: Payload | null
  readonly error: Failure | null
  /** Kept whole, so that a person's retry goes on where the run stopped. */
  readonly last: LiveRun
}

export type RunState = { readonly kind: 'none' } | LiveRun | EndedRun
