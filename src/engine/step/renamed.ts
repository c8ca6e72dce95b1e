/**
 * A step with effect `once` that may be a finished step under a new name: a person is asked, and nothing is performed (attempt-5).
 *
 * Owns the detection: the run has results of `once` steps from an earlier entry, and the code has not asked for them by the time it
 * can go no further. Does not compare versions: the hash of a version does not cover what a function imports. What the person's
 * decision means is uncertain-step.ts.
 */

import type { ActiveRun } from '#engine/run/active-run.ts'
import { plainRequest } from '#engine/run/run-request.ts'
import type { Evidence } from '#model/run/step.ts'
import { newUncertainTask } from './uncertain-step.ts'

interface Renamed {
  readonly step: string
  readonly attempt: number
  readonly effectKey: string
  readonly evidence: Evidence | null
}

const MOST_NAMED = 5
const FEW_TURNS = 3
const LOOK_AGAIN_MS = 5

/** Returns the finished steps with effect `once` that the code has not asked for in this entry. */
const unclaimedOf = ({ live, claimed, isGone }: ActiveRun): readonly string[] =>
  live === null || claimed === null || isGone
    ? []
    : [...live.settled.entries()].flatMap(([step, settled]) =>
        settled.kind === 'done' && settled.once === true && !claimed.has(step) ? step : [],
      )

/** The intent and the uncertain outcome are written together: nothing is performed. */
const reportRenamedStep = (activeRun: ActiveRun, uncertain: Renamed, instead: readonly string[]): void => {
  const now = activeRun.context.clock.now()
  const { step, attempt, effectKey, evidence } = uncertain
  const asked = evidence === null ? {} : { evidence }
  const names = instead.slice(0, MOST_NAMED).join(', ')
  const reason = `it was not performed: this version of the code asks for ${step}, while the run has completed ${names}, which this version does not ask for. If both names mean the same effect, it would happen twice`
  const { task, sideWrites } = newUncertainTask(activeRun, step, { attempt, effectKey, reason, isOver: true, ...asked })
  activeRun.ask(plainRequest({ type: 'intend_step', now, step, effectKey, ...asked }))
  activeRun.ask({
    command: { type: 'mark_uncertain', now, step, reason, task, instead, isGone: true },
    sideWrites,
    done: null,
  })
}

export class Renames {
  private readonly activeRun: ActiveRun
  /** How many steps wait here until it is clear what else the code asks for. */
  private considered = 0

  constructor(activeRun: ActiveRun) {
    this.activeRun = activeRun
  }

  /** Waits while the code may still ask for those finished steps, then calls `done`: true if the step is new; if not, a person is asked. */
  consider(uncertain: Renamed, done: (isNew: boolean) => void): void {
    const { activeRun } = this
    const { clock } = activeRun.context
    this.considered++
    const look = (turns: number): void => {
      const instead = unclaimedOf(activeRun)
      if (instead.length > 0 && turns < FEW_TURNS) return clock.defer(() => look(turns + 1))
      // Other steps are at work, or values are on their way: the code may still ask.
      if (instead.length > 0 && activeRun.active > this.considered)
        return void clock.at(clock.now() + LOOK_AGAIN_MS, () => look(turns))
      this.considered--
      if (instead.length > 0) reportRenamedStep(activeRun, uncertain, instead)
      done(instead.length === 0)
    }
    look(0)
  }
}
