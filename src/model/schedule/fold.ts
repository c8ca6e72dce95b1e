/**
 * Applies facts to the state of a schedule.
 *
 * Owns evolve. Never decides: that is schedule.ts.
 */
import type { Instant } from '#model/kernel/ids.ts'
import { isFailure, type RunStatus } from '#model/run/status.ts'
import type { LiveSchedule, ScheduledRun, ScheduleFact, ScheduleState, SlotRange, WaitingRun } from './fact.ts'
import type { ScheduleSpec } from './spec.ts'

type FactOf<Type extends ScheduleFact['type']> = Extract<ScheduleFact, { readonly type: Type }>

const KEPT_REQUESTS = 100

/** The first slot of an adaptive schedule is its start, or one interval from now. */
const pulseOf = (spec: ScheduleSpec, at: Instant): LiveSchedule['pulse'] => {
  if (spec.adaptive === null || spec.timing.kind !== 'every') return null
  const intervalMs = spec.timing.everyMs
  return { base: spec.start !== null && spec.start > at ? spec.start - intervalMs : at, intervalMs }
}

const born = (spec: ScheduleSpec, at: Instant): LiveSchedule => ({
  kind: 'live',
  spec,
  cursor: at,
  fired: 0,
  running: [],
  line: [],
  paceAt: null,
  coalesced: null,
  last: null,
  failures: 0,
  paused: null,
  pauseEnd: null,
  pulse: pulseOf(spec, at),
  requests: [],
})

export const isOwnSlot = ({ origin }: ScheduledRun): boolean => origin === 'slot' || origin === 'missed'
/** Caught-up runs start with a distance between them. */
export const isPaced = ({ origin }: ScheduledRun): boolean => origin === 'missed' || origin === 'backfill'

/** Returns the runs in the line that may start in their turn: in a pause only those that a person asked for during it. */
export const startableRuns = ({ paused, line }: LiveSchedule): readonly WaitingRun[] =>
  paused === null ? line : line.filter(({ askedInPause }) => askedInPause === true)

/** schedule-1, schedule-2: the cursor never goes back, whatever the clock does. */
const account = (state: LiveSchedule, slot: Instant, at: Instant): LiveSchedule => {
  if (slot <= state.cursor) return state
  const pulse = state.pulse === null ? null : { ...state.pulse, base: Math.max(slot, at) }
  return { ...state, cursor: slot, pulse }
}

const join = (one: SlotRange | null, other: SlotRange): SlotRange =>
  one === null
    ? { from: other.from, to: other.to, count: other.count }
    : { from: one.from, to: other.to, count: one.count + other.count }

/** Copies the run without other properties that the value may carry. */
export const plannedRun = ({ slot, run, origin, requesters }: ScheduledRun): ScheduledRun => ({
  ...{ slot, run, origin },
  ...(requesters !== undefined && { requesters }),
})

const fire = (state: LiveSchedule, fact: FactOf<'schedule.fired'>): LiveSchedule => {
  const { slot, run, origin, at } = fact
  const own = isOwnSlot(fact)
  const { spacingMs } = state.spec.missed
  return {
    ...(own ? account(state, slot, at) : state),
    line: state.line.filter((waiting) => waiting.run !== run),
    running: [...state.running, { slot, run, origin, stopping: false }],
    fired: state.fired + (own ? 1 : 0),
    coalesced: fact.missed === null ? state.coalesced : null,
    paceAt: isPaced(fact) && spacingMs > 0 ? at + spacingMs : state.paceAt,
  }
}

const skip = (state: LiveSchedule, fact: FactOf<'schedule.skipped'>): LiveSchedule => ({
  ...account(state, fact.to, fact.at),
  line: state.line.filter(({ slot, origin }) => origin !== 'slot' || slot < fact.from || slot > fact.to),
  coalesced: fact.reason === 'coalesced' ? join(state.coalesced, fact) : state.coalesced,
})

const buffer = (state: LiveSchedule, { runs, at }: FactOf<'schedule.buffered'>): LiveSchedule => {
  const accounted = runs.filter(isOwnSlot).reduce((next, { slot }) => account(next, slot, at), state)
  return { ...accounted, line: [...state.line, ...runs.map((run) => waiting(state, run))] }
}

/** schedule-5: a person who asks for a run in a pause knows of the pause. */
const waiting = ({ paused }: LiveSchedule, run: ScheduledRun): WaitingRun =>
  paused === null || isOwnSlot(run) ? plannedRun(run) : { ...plannedRun(run), askedInPause: true }

const failuresAfter = (failures: number, status: RunStatus): number => {
  if (isFailure(status)) return failures + 1
  // A cancelled run says nothing about the schedule's health.
  return status === 'cancelled' ? failures : 0
}

const endRun = (state: LiveSchedule, { run, status }: FactOf<'schedule.run_ended'>): LiveSchedule => {
  const ended = state.running.find((entry) => entry.run === run)
  if (ended === undefined) return state
  const running = state.running.filter((entry) => entry !== ended)
  // A backfill repeats the past: it never counts as the previous run.
  if (ended.origin === 'backfill') return { ...state, running }
  const failures = failuresAfter(state.failures, status)
  return { ...state, running, failures, last: { status, slot: ended.slot, run } }
}

const change = (state: LiveSchedule, { spec, at }: FactOf<'schedule.changed'>): LiveSchedule => ({
  ...state,
  spec,
  cursor: Math.max(state.cursor, at),
  pulse: pulseOf(spec, Math.max(state.cursor, at)),
})

const resume = (state: LiveSchedule, at: Instant): LiveSchedule => ({
  ...state,
  // The next pause holds back the runs that still wait.
  line: state.line.map(plannedRun),
  paused: null,
  failures: 0,
  pauseEnd: state.spec.countPause ? state.pauseEnd : Math.max(state.pauseEnd ?? at, at),
})

const evolveLive = (state: LiveSchedule, fact: ScheduleFact): ScheduleState => {
  switch (fact.type) {
    case 'schedule.created':
      return state
    case 'schedule.changed':
      return change(state, fact)
    case 'schedule.fired':
      return fire(state, fact)
    case 'schedule.buffered':
      return buffer(state, fact)
    case 'schedule.skipped':
      return skip(state, fact)
    case 'schedule.cancel_wanted':
      return {
        ...state,
        running: state.running.map((entry) => (entry.run === fact.run ? { ...entry, stopping: true } : entry)),
      }
    case 'schedule.run_ended':
      return endRun(state, fact)
    case 'schedule.adapted':
      return { ...state, pulse: state.pulse === null ? null : { ...state.pulse, intervalMs: fact.intervalMs } }
    case 'schedule.requested':
      return { ...state, requests: [...state.requests, fact.id].slice(-KEPT_REQUESTS) }
    case 'schedule.paused':
      return {
        ...state,
        paused: { at: fact.at, by: fact.by, ...(fact.note === undefined ? {} : { note: fact.note }) },
      }
    case 'schedule.resumed':
      return resume(state, fact.at)
    case 'schedule.ended':
      return { kind: 'ended', reason: fact.reason, spec: state.spec, cursor: state.cursor }
    case 'schedule.checkpointed':
      return fact.state
  }
}

export const evolveSchedule = (state: ScheduleState, fact: ScheduleFact): ScheduleState => {
  if (state.kind === 'live') return evolveLive(state, fact)
  if (fact.type === 'schedule.checkpointed') return fact.state
  if (fact.type !== 'schedule.created') return state
  return born(fact.spec, state.kind === 'ended' ? Math.max(state.cursor, fact.at) : fact.at)
}
