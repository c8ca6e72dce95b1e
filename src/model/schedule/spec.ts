/**
 * The definition of a schedule as data: when its slots fall, and what to do when they are late, overlapping or failing.
 *
 * Owns the normal form that facts store, so that past slots are judged by the expression in force then; and the calendar's interface. Never knows
 * cron, time zones or hashes: they are behind the calendar, which is passed as an argument.
 */
import type { OverlapPolicy } from '#model/flow/policies/overlap.ts'
import type { Instant } from '#model/kernel/ids.ts'

export type Timing =
  | { readonly kind: 'cron'; readonly expression: string }
  /** Slots at k · everyMs + phaseMs from the Unix epoch. */
  | { readonly kind: 'every'; readonly everyMs: number; readonly phaseMs: number }
  /** `afterMs`: set if it was declared as a delay after its declaration. */
  | { readonly kind: 'at'; readonly at: Instant; readonly afterMs?: number }
  /** Once, this long after it is first declared. A ledger stores the resulting instant, as `at`. */
  | { readonly kind: 'in'; readonly afterMs: number }

/** What is excluded from a calendar: local days, both included; a span of time without its end; the minutes that a cron expression names. */
export type Exclusion =
  | { readonly kind: 'days'; readonly from: string; readonly to: string }
  | { readonly kind: 'span'; readonly from: Instant; readonly to: Instant }
  | { readonly kind: 'cron'; readonly expression: string }

export interface MissedPolicy {
  readonly policy: 'run_once' | 'skip' | 'run_all'
  /** How far back a missed slot still gets a run. */
  readonly windowMs: number
  /** The maximum number of runs for missed slots; the newest get them. */
  readonly max: number
  /** The distance between two of these runs. */
  readonly spacingMs: number
}

export interface ScheduleSpec {
  readonly timing: Timing
  /** IANA name, for cron and for excluded days. */
  readonly tz: string
  readonly jitterMs: number
  readonly start: Instant | null
  readonly end: Instant | null
  readonly exclude: readonly Exclusion[]
  readonly maxRuns: number | null
  readonly overlap: OverlapPolicy
  readonly missed: MissedPolicy
  readonly graceMs: number
  /** The number of failures in a row that pauses the schedule. */
  readonly pauseOnFailures: number | null
  readonly countPause: boolean
  /** The bounds of an interval that the schedule's own runs shorten and lengthen. */
  readonly adaptive: { readonly minMs: number; readonly maxMs: number } | null
}

export interface Calendar {
  /** Returns the nominal instants after `after`, up to and including `until`, in order, each once. Lazy and finite. */
  slots(after: Instant, until: Instant): Iterable<Instant>
  /** How long after its nominal instant this slot is due: less than the spec's jitter, and due before the next slot begins. */
  delayMs(slot: Instant): number
}

export type CalendarOf = (spec: ScheduleSpec) => Calendar
