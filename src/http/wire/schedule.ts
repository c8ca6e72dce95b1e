/** A schedule on the wire: snake_case, instants as text, its timing as it was written. */
import type { ScheduleView } from '#engine/services/schedules.ts'
import type { BackfillCount, Schedule as ScheduleDocument, SchedulePolicies, ScheduleSlot } from '#http/openapi/api.ts'
import type { PastSlot } from '#model/schedule/history.ts'
import type { ScheduleSpec, Timing } from '#model/schedule/spec.ts'
import { englishOf } from './cron-text.ts'
import { durationText, isoTime, isoTimeOrNull } from './time.ts'

const timingText = (timing: Timing): string => {
  switch (timing.kind) {
    case 'cron':
      return timing.expression
    case 'every':
      return `every ${timing.everyMs / 1_000}s${timing.phaseMs === 0 ? '' : ` + ${timing.phaseMs / 1_000}s`}`
    case 'at':
      return `at ${isoTime(timing.at)}`
    case 'in':
      return `in ${durationText(timing.afterMs)}`
  }
}

const policiesDocument = (spec: ScheduleSpec): SchedulePolicies => ({
  overlap: spec.overlap,
  missed: spec.missed.policy,
  missed_window: durationText(spec.missed.windowMs),
  missed_max: spec.missed.max,
  jitter: durationText(spec.jitterMs),
  starts: isoTimeOrNull(spec.start),
  ends: isoTimeOrNull(spec.end),
  exclusions: spec.exclude.length,
  max_runs: spec.maxRuns,
  pause_on_failures: spec.pauseOnFailures,
  adaptive:
    spec.adaptive === null ? null : { min: durationText(spec.adaptive.minMs), max: durationText(spec.adaptive.maxMs) },
})

export const slotDocument = ({ slot, until, count, outcome, run, origin, reason }: PastSlot): ScheduleSlot => ({
  slot: isoTime(slot),
  until: isoTime(until),
  count,
  outcome,
  run_id: run,
  origin,
  reason,
})

export const backfillDocument = (slots: readonly number[]): BackfillCount => ({
  count: slots.length,
  first: isoTimeOrNull(slots[0] ?? null),
  last: isoTimeOrNull(slots.at(-1) ?? null),
})

const MINUTE_MS = 60_000

export const scheduleDocument = async (view: ScheduleView): Promise<ScheduleDocument> => ({
  name: view.name,
  target: view.target,
  timing: timingText(view.spec.timing),
  english: await englishOf(view.spec.timing),
  tz: view.spec.tz,
  status: view.status,
  next_at: isoTimeOrNull(view.nextAt),
  next: view.next.map(isoTime),
  clock_change:
    view.clockChange === null ? null : { at: isoTime(view.clockChange.at), minutes: view.clockChange.byMs / MINUTE_MS },
  policies: policiesDocument(view.spec),
  fired: view.fired,
  running: view.running,
  waiting: view.waiting,
  last: view.last === null ? null : { run_id: view.last.run, slot: isoTime(view.last.slot), status: view.last.status },
  paused_by: view.pausedBy,
  paused_reason: view.pausedFor,
})
