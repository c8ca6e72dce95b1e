/**
 * Whether a run of a schedule starts now, waits in the line, or takes the place of another.
 *
 * Owns overlap and the pace of caught-up runs. Never looks at the calendar.
 */
import type { Instant } from './ids.ts'
import { type Draft, record, skip } from './schedule-draft.ts'
import type { LiveSchedule, RunOrigin, ScheduledRun } from './schedule-fact.ts'
import { isOwnSlot, isPaced } from './schedule-fold.ts'

export const MAX_LINE = 1_000

export const planRun = (draft: Draft, slot: Instant, origin: RunOrigin, request: string | null): ScheduledRun => ({
  slot,
  run: draft.world.runOf(slot, request),
  origin,
})

/** A run in the line will run: it counts as one that does. */
export const isBusy = ({ running, line }: LiveSchedule): boolean => running.length > 0 || line.length > 0

const fire = (draft: Draft, planned: ScheduledRun): void => {
  const { coalesced, last } = draft.state
  const missed = isOwnSlot(planned) ? coalesced : null
  record(draft, { type: 'schedule.fired', at: draft.now, ...planned, missed, last })
}

const buffer = (draft: Draft, ...runs: readonly ScheduledRun[]): void =>
  record(draft, { type: 'schedule.buffered', at: draft.now, runs })

/** The newest takes the place of slots that wait; what a person asked for, or is caught up with, stays. */
const replaceWaiting = (draft: Draft, planned: ScheduledRun): void => {
  if (planned.origin === 'slot') {
    for (const { slot, origin } of draft.state.line) if (origin === 'slot') skip(draft, [slot], 'overlap')
  }
  buffer(draft, planned)
}

const stopRunning = (draft: Draft, mode: 'cancel' | 'terminate'): void => {
  for (const { run, stopping } of draft.state.running) {
    if (!stopping) record(draft, { type: 'schedule.cancel_wanted', at: draft.now, run, mode })
  }
}

/** One run whose time has come, under the overlap policy. */
export const start = (draft: Draft, planned: ScheduledRun): void => {
  if (!isBusy(draft.state)) return fire(draft, planned)
  switch (draft.state.spec.overlap) {
    case 'allow':
      return fire(draft, planned)
    case 'skip':
      return skip(draft, [planned.slot], 'overlap')
    case 'buffer_one':
      return replaceWaiting(draft, planned)
    case 'buffer_all':
      return draft.state.line.length < MAX_LINE ? buffer(draft, planned) : skip(draft, [planned.slot], 'max')
    case 'cancel_running':
      stopRunning(draft, 'cancel')
      return replaceWaiting(draft, planned)
    case 'terminate_running':
      stopRunning(draft, 'terminate')
      return fire(draft, planned)
  }
}

/** Slots that are caught up with: every one of them runs, in turn unless runs may overlap. */
export const enqueue = (draft: Draft, runs: readonly ScheduledRun[]): void => {
  if (runs.length > 0) buffer(draft, ...runs)
  release(draft)
}

const mayStart = ({ state, now }: Draft, head: ScheduledRun): boolean => {
  if (state.paused !== null) return false
  if (state.spec.overlap !== 'allow' && state.running.length > 0) return false
  return !isPaced(head) || state.paceAt === null || now >= state.paceAt
}

/** Starts what waits, as far as overlap and pace allow. */
export const release = (draft: Draft): void => {
  for (let head = draft.state.line[0]; head !== undefined && mayStart(draft, head); head = draft.state.line[0]) {
    fire(draft, head)
  }
}
