/**
 * Decides whether a run of a schedule starts now, waits in the line, or displaces another.
 *
 * Owns the line and the pace of caught-up runs; policies/overlap.ts decides on overlap. Never looks at the calendar.
 */
import type { Requesters } from '#model/access/requester.ts'
import { judgeOverlap } from '#model/flow/policies/overlap.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'
import { type Draft, record, skip } from './draft.ts'
import type { LiveSchedule, RunOrigin, ScheduledRun } from './fact.ts'
import { isOwnSlot, isPaced, plannedRun, startableRuns } from './fold.ts'

export const planRun = (
  draft: Draft,
  slot: Instant,
  origin: RunOrigin,
  request: ({ readonly id: string } & Requesters) | null,
): ScheduledRun => plannedRun({ ...request, slot, run: draft.world.runOf(slot, request?.id ?? null), origin })

/** A run in the line that may start counts as running. */
export const isBusy = (state: LiveSchedule): boolean => state.running.length > 0 || startableRuns(state).length > 0

const fire = (draft: Draft, scheduled: ScheduledRun): void => {
  const { coalesced, last } = draft.state
  const planned = plannedRun(scheduled)
  const missed = isOwnSlot(planned) ? coalesced : null
  record(draft, { type: 'schedule.fired', at: draft.now, ...planned, missed, last })
}

const buffer = (draft: Draft, ...runs: readonly ScheduledRun[]): void =>
  record(draft, { type: 'schedule.buffered', at: draft.now, runs })

/** Waiting slots are displaced by a newer one; a run that a person asked for, or that is caught up with, stays. */
const displace = (draft: Draft, waiting: readonly ScheduledRun[], planned: ScheduledRun): void => {
  if (planned.origin !== 'slot') return
  for (const { slot, origin } of waiting) if (origin === 'slot') skip(draft, [slot], 'overlap')
}

const stop = (draft: Draft, runs: readonly RunId[], mode: 'cancel' | 'terminate'): void => {
  const stopping = new Set(draft.state.running.flatMap((entry) => (entry.stopping ? [entry.run] : [])))
  for (const run of runs) {
    if (!stopping.has(run)) record(draft, { type: 'schedule.cancel_wanted', at: draft.now, run, mode })
  }
}

/** Starts, queues or skips one run whose time has come, by the overlap policy. */
export const start = (draft: Draft, planned: ScheduledRun): void => {
  const { running, spec } = draft.state
  const line = { running: running.map(({ run }) => run), waiting: startableRuns(draft.state) }
  const verdict = judgeOverlap(line, spec.overlap)
  switch (verdict.kind) {
    case 'start':
      stop(draft, verdict.terminates, 'terminate')
      return fire(draft, planned)
    case 'wait':
      stop(draft, verdict.cancels, 'cancel')
      displace(draft, verdict.displaces, planned)
      return buffer(draft, planned)
    case 'skip':
      return skip(draft, [planned.slot], spec.overlap === 'buffer_all' ? 'max' : 'overlap')
  }
}

/** Queues slots that are caught up with: all of them run, one after the other unless runs may overlap. */
export const enqueue = (draft: Draft, runs: readonly ScheduledRun[]): void => {
  if (runs.length > 0) buffer(draft, ...runs)
  release(draft)
}

const mayStart = ({ state, now }: Draft, head: ScheduledRun): boolean => {
  if (state.spec.overlap !== 'allow' && state.running.length > 0) return false
  return !isPaced(head) || state.paceAt === null || now >= state.paceAt
}

/** Starts waiting runs, as far as overlap and pace allow. */
export const release = (draft: Draft): void => {
  for (;;) {
    const [head] = startableRuns(draft.state)
    if (head === undefined || !mayStart(draft, head)) return
    fire(draft, head)
  }
}
