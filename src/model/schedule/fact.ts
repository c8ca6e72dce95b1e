/**
 * The data types of a schedule: its facts, its commands and its states.
 *
 * Owns the types only; the rules are in schedule.ts and the files next to it. All state is plain JSON: a checkpoint stores all of it.
 */
import type { Requesters } from '#model/access/requester.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { CalendarOf, ScheduleSpec } from './spec.ts'

/** Slots that got no run of their own: the first, the last, how many. */
export interface SlotRange {
  readonly from: Instant
  readonly to: Instant
  readonly count: number
}

/** Why a run exists: its slot came, its slot was missed and is caught up with, or a person asked. */
export type RunOrigin = 'slot' | 'missed' | 'backfill' | 'now'

/** The people whose credentials asked for the run are its requesters; a run of the schedule's own slots has none. */
export interface ScheduledRun extends Requesters {
  readonly slot: Instant
  readonly run: RunId
  readonly origin: RunOrigin
}

/** A run that waits in the line. */
export interface WaitingRun extends ScheduledRun {
  /** A person asked for it while the schedule was paused: the pause does not hold it back. */
  readonly askedInPause?: true
}

/** How the previous run ended: passed to the next one. */
export interface LastRun {
  readonly status: RunStatus
  readonly slot: Instant
  readonly run: RunId
}

/** `past`: an instant that had passed when the schedule was declared. `coalesced`: the next run covers it. */
export type SkipReason = 'coalesced' | 'policy' | 'window' | 'max' | 'paused' | 'overlap' | 'past'

type At = { readonly at: Instant }

export type ScheduleFact =
  | (At & { readonly type: 'schedule.created'; readonly spec: ScheduleSpec })
  | (At & { readonly type: 'schedule.changed'; readonly spec: ScheduleSpec })
  | (At & {
      readonly type: 'schedule.fired'
      /** The slots that this run covers in addition to its own. */
      readonly missed: SlotRange | null
      readonly last: LastRun | null
    } & ScheduledRun)
  | (At & { readonly type: 'schedule.buffered'; readonly runs: readonly ScheduledRun[] })
  | (At & { readonly type: 'schedule.skipped'; readonly reason: SkipReason } & SlotRange)
  | (At & { readonly type: 'schedule.cancel_wanted'; readonly run: RunId; readonly mode: 'cancel' | 'terminate' })
  | (At & { readonly type: 'schedule.run_ended'; readonly run: RunId; readonly status: RunStatus })
  | (At & { readonly type: 'schedule.adapted'; readonly intervalMs: number })
  | (At & { readonly type: 'schedule.requested'; readonly id: string; readonly by: string })
  | (At & {
      readonly type: 'schedule.paused'
      readonly by: string
      readonly reason: 'asked' | 'failures'
      /** The reason that the person gave. */
      readonly note?: string
    })
  | (At & { readonly type: 'schedule.resumed'; readonly by: string })
  | (At & { readonly type: 'schedule.ended'; readonly reason: EndReason })
  | (At & { readonly type: 'schedule.checkpointed'; readonly state: ScheduleState })

export type ScheduleFactType = ScheduleFact['type']

export type EndReason = 'finished' | 'max_runs' | 'removed'

/** What a decision needs from outside. `runOf` returns one id for one slot and request; the request of a slot's own run is null. */
export interface ScheduleWorld {
  readonly calendarOf: CalendarOf
  readonly runOf: (slot: Instant, request: string | null) => RunId
}

type Now = { readonly now: Instant; readonly world: ScheduleWorld }

export type ScheduleCommand =
  /** The definition in the system, at every start: creates the schedule, changes it, or finds it unchanged. */
  | (Now & { readonly type: 'declare_schedule'; readonly spec: ScheduleSpec })
  | (Now & { readonly type: 'pass_time' })
  /** `yielded`: the verdict of the adaptive rule over the run's output; null where there is none. */
  | (Now & {
      readonly type: 'end_run'
      readonly run: RunId
      readonly status: RunStatus
      readonly yielded: boolean | null
    })
  | (Now & { readonly type: 'pause_schedule'; readonly by: string; readonly note?: string })
  | (Now & { readonly type: 'resume_schedule'; readonly by: string })
  /** A request has an id of its own: if it is sent twice, it is done once. */
  | (Now & { readonly type: 'run_now'; readonly id: string; readonly by: string } & Requesters)
  | (Now & {
      readonly type: 'backfill'
      readonly id: string
      readonly by: string
      readonly from: Instant
      readonly to: Instant
    } & Requesters)
  | (Now & { readonly type: 'checkpoint_schedule' })
  | (Now & { readonly type: 'remove_schedule' })

export interface LiveSchedule {
  readonly kind: 'live'
  readonly spec: ScheduleSpec
  /** Every slot up to here has a run, a place in the line, or is in a range of skipped slots. */
  readonly cursor: Instant
  /** The number of runs of its own slots so far. */
  readonly fired: number
  readonly running: readonly (ScheduledRun & { readonly stopping: boolean })[]
  /** Runs that wait for their turn, oldest first. */
  readonly line: readonly WaitingRun[]
  /** No caught-up run starts before this instant. */
  readonly paceAt: Instant | null
  /** Slots that the next run covers. */
  readonly coalesced: SlotRange | null
  readonly last: LastRun | null
  /** Failures in a row. */
  readonly failures: number
  readonly paused: { readonly at: Instant; readonly by: string; readonly note?: string } | null
  /** Slots that were due up to here fell into a pause. */
  readonly pauseEnd: Instant | null
  /** An adaptive schedule has no grid: its next slot is one interval after `base`. */
  readonly pulse: { readonly base: Instant; readonly intervalMs: number } | null
  /** The ids of the last requests. */
  readonly requests: readonly string[]
}

export interface EndedSchedule {
  readonly kind: 'ended'
  readonly reason: EndReason
  readonly spec: ScheduleSpec
  /** Kept: if the schedule is declared again, its slots begin after the last slot of this one, whatever the clock says. */
  readonly cursor: Instant
}

export type ScheduleState = { readonly kind: 'none' } | LiveSchedule | EndedSchedule
