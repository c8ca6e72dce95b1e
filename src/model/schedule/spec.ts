/**
 * What a schedule is, as data: when its slots fall, and what to do when they are late, crowded or failing.
 *
 * Owns the normal form that facts keep, so that past slots are judged by the expression in force then, and the calendar as the
 * model sees it. Never knows cron, time zones or hashes: they are behind the calendar, which arrives as an argument.
 */
import type { OverlapPolicy } from '#model/flow/policies/overlap.ts'
import type { Instant } from '#model/kernel/ids.ts'

export type Timing =
  | { readonly kind: 'cron'; readonly expression: string }
  /** Slots at k · everyMs + phaseMs from the Unix epoch. */
  | { readonly kind: 'every'; readonly everyMs: number; readonly phaseMs: number }
  /** `afterMs`: it was declared as so long after its declaration. */
  | { readonly kind: 'at'; readonly at: Instant; readonly afterMs?: number }
  /** So long after it is first declared, once. A ledger keeps the instant that it comes to, as `at`. */
  | { readonly kind: 'in'; readonly afterMs: number }

/** What is cut out of a calendar: local days, both included; a span of time without its end; the minutes that a cron expression names. */
export type Exclusion =
  | { readonly kind: 'days'; readonly from: string; readonly to: string }
  | { readonly kind: 'span'; readonly from: Instant; readonly to: Instant }
  | { readonly kind: 'cron'; readonly expression: string }

export interface MissedPolicy {
  readonly policy: 'run_once' | 'skip' | 'run_all'
  /** How far back a missed slot is still worth a run. */
  readonly windowMs: number
  /** At most so many runs for missed slots, the newest. */
  readonly max: number
  /** Between two of them. */
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
  /** Pause after so many failures in a row. */
  readonly pauseOnFailures: number | null
  readonly countPause: boolean
  /** The bounds of an interval that its own runs shorten and lengthen. */
  readonly adaptive: { readonly minMs: number; readonly maxMs: number } | null
}

export interface Calendar {
  /** The nominal instants after `after`, up to and with `until`, in order, each once. Lazy, and it ends. */
  slots(after: Instant, until: Instant): Iterable<Instant>
  /** How long after its nominal instant this slot is due: less than the spec's jitter, and due before the next slot begins. */
  delayMs(slot: Instant): number
}

export type CalendarOf = (spec: ScheduleSpec) => Calendar
