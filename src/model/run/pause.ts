/**
 * A run that a person has paused: no step begins until it is resumed.
 *
 * Owns which commands a paused run still accepts. Its end, a cancel and its time limits follow their own rules (run.ts).
 *
 * pause-1  While a run is paused none of its steps, waits, timers or children begins, and none of its timers, timeouts and retries is due; work
 *          under way may finish, and events from outside are recorded and count when the run is resumed.
 * pause-2  A pause ends only with a resume, a cancel or the end of the run.
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

/** pause-1. Null: the command is allowed. */
export const refusePaused = ({ pause }: LiveRun, { type }: WorkCommand): Refusal | null =>
  pause !== null && BEGINNINGS.has(type) ? refuse('RUN_PAUSED', `${pause.by} has paused the run`) : null
