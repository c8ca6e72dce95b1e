/**
 * A schedule: a stream that starts runs when its slots come, claimed and fenced like a run.
 *
 * Owns which command is accepted when. Slots and their delay come from the calendar of the spec in force, run ids from the world; missed.ts
 * handles late slots, line.ts overlapping ones. Never reads a clock.
 *
 * schedule-1  Every slot after the creation of the schedule runs once, waits in the line, or is in one range of skipped slots.
 * schedule-2  No slot is fired before its instant, and a clock that is set back repeats none.
 * schedule-3  A change settles every slot up to it under the expression in force until then; a new schedule fills no past.
 * schedule-4  A request is done once, however often it is sent.
 * schedule-5  A paused schedule starts only what a person asks for in the pause; runs that waited before it keep waiting.
 */
import { MAX_WAITING } from '#model/flow/policies/overlap.ts'
import { canonical, type Json } from '#model/kernel/json.ts'
import { type Decision, facts, type Machine, refuse } from '#model/kernel/machine.ts'
import { type Draft, record, skip } from './draft.ts'
import { nextSlot, runsLeft } from './due.ts'
import type { EndedSchedule, LiveSchedule, ScheduleCommand, ScheduleFact, ScheduleState } from './fact.ts'
import { evolveSchedule } from './fold.ts'
import { enqueue, isBusy, planRun, release, start } from './line.ts'
import { closeBooks, passTime } from './missed.ts'
import type { ScheduleSpec } from './spec.ts'

type CommandOf<Type extends ScheduleCommand['type']> = Extract<ScheduleCommand, { readonly type: Type }>

const isSame = (one: ScheduleSpec, other: ScheduleSpec): boolean =>
  canonical(one as unknown as Json) === canonical(other as unknown as Json)

const draftOf = (state: LiveSchedule, { now, world }: ScheduleCommand): Draft => ({ state, facts: [], now, world })

/** Returns the facts of a draft, and the end of the schedule if no slot is left to come. */
const finish = (draft: Draft): Decision<ScheduleFact> => {
  const { state, now, world } = draft
  if (state.paused === null && !isBusy(state) && nextSlot(state, world.calendarOf) === null) {
    const reason = runsLeft(state) <= 0 ? 'max_runs' : 'finished'
    record(draft, { type: 'schedule.ended', at: now, reason })
  }
  return facts(...draft.facts)
}

/** A delay counts from the first declaration that contains it: declared again, it means the same instant. */
const inForce = ({ spec, now }: CommandOf<'declare_schedule'>, before: ScheduleSpec | null): ScheduleSpec => {
  const { timing } = spec
  if (timing.kind !== 'in') return spec
  const { afterMs } = timing
  const known = before?.timing
  const isKnown = known?.kind === 'at' && known.afterMs === afterMs
  return { ...spec, timing: isKnown ? known : { kind: 'at', at: now + afterMs, afterMs } }
}

const create = (state: ScheduleState, command: CommandOf<'declare_schedule'>): Decision<ScheduleFact> => {
  const created: ScheduleFact = { type: 'schedule.created', at: command.now, spec: inForce(command, null) }
  const born = evolveSchedule(state, created) as LiveSchedule
  const draft: Draft = { ...draftOf(born, command), facts: [created] }
  const { timing } = created.spec
  if (timing.kind === 'at' && timing.at <= command.now) skip(draft, [timing.at], 'past')
  return finish(draft)
}

/** schedule-3. */
const declare = (state: LiveSchedule, command: CommandOf<'declare_schedule'>): Decision<ScheduleFact> => {
  const spec = inForce(command, state.spec)
  if (isSame(state.spec, spec)) return facts()
  const draft = draftOf(state, command)
  closeBooks(draft)
  record(draft, { type: 'schedule.changed', at: command.now, spec })
  release(draft)
  return finish(draft)
}

const adapt = (draft: Draft, yielded: boolean | null): void => {
  const { pulse, spec } = draft.state
  if (pulse === null || spec.adaptive === null || yielded === null) return
  const wanted = yielded ? Math.round(pulse.intervalMs / 2) : pulse.intervalMs * 2
  const intervalMs = Math.min(spec.adaptive.maxMs, Math.max(spec.adaptive.minMs, wanted))
  if (intervalMs !== pulse.intervalMs) record(draft, { type: 'schedule.adapted', at: draft.now, intervalMs })
}

const endRun = (state: LiveSchedule, command: CommandOf<'end_run'>): Decision<ScheduleFact> => {
  const { now, run, status, yielded } = command
  if (!state.running.some((entry) => entry.run === run)) return facts()
  const draft = draftOf(state, command)
  record(draft, { type: 'schedule.run_ended', at: now, run, status })
  adapt(draft, yielded)
  const { failures, spec, paused } = draft.state
  if (paused === null && spec.pauseOnFailures !== null && failures >= spec.pauseOnFailures)
    record(draft, { type: 'schedule.paused', at: now, by: 'trihand', reason: 'failures' })
  release(draft)
  return finish(draft)
}

const pause = (state: LiveSchedule, command: CommandOf<'pause_schedule'>): Decision<ScheduleFact> => {
  if (state.paused !== null) return facts()
  const draft = draftOf(state, command)
  // Slots that came before the pause are not part of it.
  passTime(draft)
  const { now, by, note } = command
  record(draft, { type: 'schedule.paused', at: now, by, reason: 'asked', ...(note === undefined ? {} : { note }) })
  return finish(draft)
}

const resume = (state: LiveSchedule, command: CommandOf<'resume_schedule'>): Decision<ScheduleFact> => {
  if (state.paused === null) return facts()
  const draft = draftOf(state, command)
  record(draft, { type: 'schedule.resumed', at: command.now, by: command.by })
  passTime(draft)
  return finish(draft)
}

const runNow = (state: LiveSchedule, command: CommandOf<'run_now'>): Decision<ScheduleFact> => {
  const { now, id, by } = command
  // schedule-4
  if (state.requests.includes(id)) return facts()
  if (state.spec.overlap === 'skip' && isBusy(state))
    return refuse('RUN_EXISTS', 'another run of this schedule is running or queued, and its overlap is skip')
  if (state.line.length >= MAX_WAITING) return refuse('RUN_BACKLOG_FULL', `${MAX_WAITING} runs are already waiting`)
  const draft = draftOf(state, command)
  record(draft, { type: 'schedule.requested', at: now, id, by })
  start(draft, planRun(draft, now, 'now', command))
  return facts(...draft.facts)
}

const backfill = (state: LiveSchedule, command: CommandOf<'backfill'>): Decision<ScheduleFact> => {
  const { now, id, by, from, to, world } = command
  if (state.requests.includes(id)) return facts()
  if (from > to || to > now)
    return refuse('INPUT_INVALID', 'a backfill needs a start and a later end, both in the past')
  if (state.pulse !== null) return refuse('INPUT_INVALID', 'an adaptive schedule has no past slots to fill')
  const draft = draftOf(state, command)
  record(draft, { type: 'schedule.requested', at: now, id, by })
  const runs = []
  for (const slot of world.calendarOf(state.spec).slots(from - 1, to)) {
    if (state.line.length + runs.length >= MAX_WAITING)
      return refuse('RUN_BACKLOG_FULL', `the span has more than ${MAX_WAITING} slots; at most that many runs can wait`)
    runs.push(planRun(draft, slot, 'backfill', command))
  }
  enqueue(draft, runs)
  return facts(...draft.facts)
}

const decideLive = (state: LiveSchedule, command: ScheduleCommand): Decision<ScheduleFact> => {
  switch (command.type) {
    case 'declare_schedule':
      return declare(state, command)
    case 'pass_time': {
      const draft = draftOf(state, command)
      passTime(draft)
      return finish(draft)
    }
    case 'end_run':
      return endRun(state, command)
    case 'pause_schedule':
      return pause(state, command)
    case 'resume_schedule':
      return resume(state, command)
    case 'run_now':
      return runNow(state, command)
    case 'backfill':
      return backfill(state, command)
    case 'checkpoint_schedule':
      return facts({ type: 'schedule.checkpointed', at: command.now, state })
    case 'remove_schedule':
      return facts({ type: 'schedule.ended', at: command.now, reason: 'removed' })
  }
}

const decideEnded = (state: EndedSchedule, command: ScheduleCommand): Decision<ScheduleFact> => {
  switch (command.type) {
    case 'declare_schedule':
      // A schedule that has finished stays ended until it is declared differently.
      return state.reason !== 'removed' && isSame(state.spec, inForce(command, state.spec))
        ? facts()
        : create(state, command)
    case 'pass_time':
    case 'end_run':
    case 'checkpoint_schedule':
    case 'remove_schedule':
      return facts()
    case 'pause_schedule':
    case 'resume_schedule':
    case 'run_now':
    case 'backfill':
      return refuse('SCHEDULE_ENDED', `the schedule has ended: ${state.reason}`)
  }
}

export const schedule: Machine<ScheduleState, ScheduleCommand, ScheduleFact> = {
  initial: { kind: 'none' },

  decide(state, command) {
    switch (state.kind) {
      case 'none':
        return command.type === 'declare_schedule'
          ? create(state, command)
          : refuse('NOT_FOUND', 'the schedule does not exist')
      case 'live':
        return decideLive(state, command)
      case 'ended':
        return decideEnded(state, command)
    }
  },

  evolve: evolveSchedule,
}
