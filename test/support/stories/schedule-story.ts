/**
 * Short notations for facts and commands of a schedule, and a calendar of plain arithmetic.
 *
 * Owns a calendar without cron or zones: the machine only needs slots in order. Delays differ from slot to slot.
 */
import { type Instant, type RunId, runId } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import { scheduleWakeAt } from '#model/schedule/due.ts'
import type {
  LastRun,
  RunOrigin,
  ScheduleCommand,
  ScheduledRun,
  ScheduleFact,
  ScheduleWorld,
  SkipReason,
  SlotRange,
} from '#model/schedule/fact.ts'
import { schedule } from '#model/schedule/schedule.ts'
import type { Calendar, MissedPolicy, ScheduleSpec } from '#model/schedule/spec.ts'

export const HOUR = 3_600_000

export const calendarOf = (spec: ScheduleSpec): Calendar => ({
  *slots(after, until) {
    const { timing, end } = spec
    if (timing.kind === 'at') {
      if (timing.at > after && timing.at <= until) yield timing.at
      return
    }
    if (timing.kind !== 'every') return
    const last = Math.min(until, end ?? until)
    const first = Math.floor((after - timing.phaseMs) / timing.everyMs) + 1
    for (let k = first; k * timing.everyMs + timing.phaseMs <= last; k++) yield k * timing.everyMs + timing.phaseMs
  },
  delayMs: (slot) => (spec.jitterMs === 0 ? 0 : (slot / HOUR) % spec.jitterMs),
})

const runOf = (slot: Instant, request: string | null): RunId =>
  runId(`${slot.toString(16).padStart(24, '0')}${request === null ? '00000000' : request.padStart(8, '0')}`)
export const world: ScheduleWorld = { calendarOf, runOf }

export const MISSED: MissedPolicy = { policy: 'run_once', windowMs: 24 * HOUR, max: 100, spacingMs: 0 }
export const aSpec = (over: Partial<ScheduleSpec> = {}): ScheduleSpec => ({
  timing: { kind: 'every', everyMs: HOUR, phaseMs: 0 },
  tz: 'UTC',
  jitterMs: 0,
  start: null,
  end: null,
  exclude: [],
  maxRuns: null,
  overlap: 'allow',
  missed: MISSED,
  graceMs: 60_000,
  pauseOnFailures: null,
  countPause: false,
  adaptive: null,
  ...over,
})

export const created = (over: Partial<ScheduleSpec> = {}, at: Instant = 0): ScheduleFact => ({
  type: 'schedule.created',
  at,
  spec: aSpec(over),
})
export const planned = (slot: Instant, origin: RunOrigin = 'slot', request: string | null = null): ScheduledRun => ({
  slot,
  run: runOf(slot, request),
  origin,
})
export const lastRun = (slot: Instant, status: LastRun['status'] = 'success'): LastRun => ({
  status,
  slot,
  run: runOf(slot, null),
})
interface Firing {
  readonly at?: Instant
  readonly origin?: RunOrigin
  readonly request?: string
  readonly missed?: SlotRange
  readonly last?: LastRun
}
export const fired = (slot: Instant, { at = slot, origin, request, missed, last }: Firing = {}): ScheduleFact => ({
  type: 'schedule.fired',
  at,
  ...planned(slot, origin, request ?? null),
  missed: missed ?? null,
  last: last ?? null,
})
export const skipped = (at: Instant, reason: SkipReason, from: Instant, to = from): ScheduleFact => ({
  type: 'schedule.skipped',
  at,
  reason,
  from,
  to,
  count: (to - from) / HOUR + 1,
})
export const buffered = (at: Instant, ...runs: readonly ScheduledRun[]): ScheduleFact => ({
  type: 'schedule.buffered',
  at,
  runs,
})
export const ended = (at: Instant, slot: Instant, status: LastRun['status'] = 'success'): ScheduleFact => ({
  type: 'schedule.run_ended',
  at,
  run: runOf(slot, null),
  status,
})
export const cancelWanted = (at: Instant, slot: Instant, mode: 'cancel' | 'terminate'): ScheduleFact => ({
  type: 'schedule.cancel_wanted',
  at,
  run: runOf(slot, null),
  mode,
})
export const paused = (at: Instant): ScheduleFact => ({ type: 'schedule.paused', at, by: 'ana', reason: 'asked' })
export const resumed = (at: Instant): ScheduleFact => ({ type: 'schedule.resumed', at, by: 'ana' })
export const requested = (at: Instant, id: string): ScheduleFact => ({ type: 'schedule.requested', at, id, by: 'ana' })

export const declare = (now: Instant, over: Partial<ScheduleSpec> = {}): ScheduleCommand => ({
  type: 'declare_schedule',
  now,
  world,
  spec: aSpec(over),
})
export const passTime = (now: Instant): ScheduleCommand => ({ type: 'pass_time', now, world })
export const endRun = (now: Instant, slot: Instant, status: LastRun['status'] = 'success'): ScheduleCommand => ({
  type: 'end_run',
  now,
  world,
  run: runOf(slot, null),
  status,
  yielded: null,
})
export const pauseNow = (now: Instant): ScheduleCommand => ({ type: 'pause_schedule', now, world, by: 'ana' })
export const resumeNow = (now: Instant): ScheduleCommand => ({ type: 'resume_schedule', now, world, by: 'ana' })
export const runNow = (now: Instant, id: string): ScheduleCommand => ({ type: 'run_now', now, world, id, by: 'ana' })
export const backfill = (now: Instant, from: Instant, to: Instant): ScheduleCommand => ({
  type: 'backfill',
  now,
  world,
  id: 'b1',
  by: 'ana',
  from,
  to,
})

/** When a schedule with this history must be woken. */
export const wakeAt = (...history: readonly ScheduleFact[]): Instant | null =>
  scheduleWakeAt(fold(schedule, history), calendarOf)

export const finished = (at: Instant, reason: 'finished' | 'max_runs' | 'removed' = 'finished'): ScheduleFact => ({
  type: 'schedule.ended',
  at,
  reason,
})
