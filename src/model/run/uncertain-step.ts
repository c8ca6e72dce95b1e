/**
 * An attempt of a `once` step that no longer reports: when people may be asked about it, and whether it may still act.
 *
 * Owns these two rules. What is recorded is in attempt.ts; the engine chooses who is asked.
 *
 * uncertain-1  People are asked about an attempt only after it has ended, after its process is known to be gone, or after the lease and the timeout
 *              of the step have passed since its intent.
 * uncertain-2  As long as the attempt may still act, running the step again requires acknowledging a warning that says so.
 * uncertain-3  The same holds as long as an earlier attempt may still act, which was set aside when the step was run again.
 */
import type { Instant, WorkerId } from '#model/kernel/ids.ts'
import type { LiveRun } from './fact.ts'
import { askableAt, type IntendedStep, type Performer, type UncertainStep } from './step.ts'

/** An object, so that a simulation can replace each rule by a faulty one. */
export const uncertainRules = {
  /** uncertain-1. `isGone`: the process of the performer is known to have ended. */
  mayAsk(open: IntendedStep, now: Instant, isGone: boolean): boolean {
    const at = askableAt(open)
    return isGone || at === null || at <= now
  },

  /** uncertain-2. */
  mayStillAct({ isOver, late }: Pick<UncertainStep, 'isOver' | 'late'>): boolean {
    return !isOver && late === undefined
  },
}

const NONE: readonly never[] = []

/** uncertain-3. */
export const earlierAttempts = ({ frozen }: Pick<LiveRun, 'frozen'>, step: string): readonly Performer[] =>
  frozen.size === 0 ? NONE : (frozen.get(step) ?? NONE)

/** The workers of earlier attempts, except those that are known to be gone. */
export const stillActing = (
  run: Pick<LiveRun, 'frozen'>,
  step: string,
  isGone: (worker: WorkerId) => boolean,
): readonly WorkerId[] => earlierAttempts(run, step).flatMap(({ worker }) => (isGone(worker) ? [] : [worker]))

/** Sets the attempt aside if a person lets the step run again while it may still act. */
export const keepFrozen = (run: LiveRun, step: string, uncertain: UncertainStep): LiveRun['frozen'] => {
  const { performer } = uncertain
  if (performer === undefined || !uncertainRules.mayStillAct(uncertain)) return run.frozen
  return run.frozen.with(step, [...earlierAttempts(run, step), performer])
}

/** Removes the attempt once it has answered, although too late to count. */
export const thawed = (run: LiveRun, step: string, performer: string | undefined): LiveRun['frozen'] => {
  const earlier = earlierAttempts(run, step)
  const left = earlier.filter(({ id }) => id !== performer)
  return left.length === earlier.length ? run.frozen : run.frozen.with(step, left)
}
