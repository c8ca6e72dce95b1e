/**
 * A run that a person holds: no step begins until somebody lets it go on.
 *
 * Owns what a paused run still takes. Its end, a cancel and its time limits go by their own rules (run.ts).
 *
 * pause-1  While a run is paused no step, wait, timer or child of it begins, and none of its instants passes; what was under way may
 *          finish, and what comes from outside is recorded and counts when the run goes on.
 * pause-2  A pause ends only by a word, a cancel or the end of the run.
 */
import { type Decision, facts, type Refusal, refuse } from '#model/kernel/machine.ts'
import type { LiveRun, RunCommand, RunFact, WorkCommand } from './fact.ts'

type Command<Type extends RunCommand['type']> = Extract<RunCommand, { readonly type: Type }>

export const pauseRun = (run: LiveRun, command: Command<'pause_run'>): Decision<RunFact> => {
  if (run.cancel !== null) return refuse('RUN_CANCELLED', 'the run was cancelled')
  const { now: at, by, reason } = command
  return run.pause === null ? facts({ type: 'run.paused', at, by, reason }) : facts()
}

export const resumeRun = (run: LiveRun, { now: at, by }: Command<'resume_run'>): Decision<RunFact> =>
  run.pause === null || run.cancel !== null ? facts() : facts({ type: 'run.resumed', at, by })

const BEGINNINGS: ReadonlySet<WorkCommand['type']> = new Set([
  ...(['intend_step', 'reuse_step', 'set_timer', 'open_wait', 'start_child'] as const),
])

/** pause-1. Null: a pause does not stand in the way of this command. */
export const refusePaused = ({ pause }: LiveRun, { type }: WorkCommand): Refusal | null =>
  pause !== null && BEGINNINGS.has(type) ? refuse('RUN_PAUSED', `${pause.by} has paused the run`) : null
