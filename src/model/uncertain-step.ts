/**
 * An attempt of a `once` step that is no longer heard of: when people may be asked about it, and whether it may still act.
 *
 * Owns these two rules. What is recorded is attempt.ts; who is asked is the engine's.
 *
 * uncertain-1  People are asked about an attempt only after it has ended, after its process is known to be gone, or after the lease
 *              and the timeout of the step have passed since its intent.
 * uncertain-2  As long as the attempt may still act, to run the step again needs the acknowledgement of a warning that says so.
 */
import type { Instant } from './ids.ts'
import { askableAt, type IntendedStep, type UncertainStep } from './step.ts'

/** An object, so that a simulation can put a mistake in the place of each rule. */
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
