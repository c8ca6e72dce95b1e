/**
 * The steps of one run one after the other: what a limit on steps means inside a run, which holds one slot of it.
 *
 * Owns whose turn it is. How many runs are at work at once is settled at the claim (model/flow/lane.ts).
 *
 * turns-1  While one step is performed no other of the run begins; each begins in the order it was asked for.
 * turns-2  A run with a step in line is at work: it is not parked.
 */
import type { ActiveRun } from '#engine/run/active-run.ts'

export class StepMutex {
  private readonly activeRun: Pick<ActiveRun, 'begin' | 'end' | 'isGone'>
  private readonly line: (() => void)[] = []
  private isTaken = false

  constructor(activeRun: Pick<ActiveRun, 'begin' | 'end' | 'isGone'>) {
    this.activeRun = activeRun
  }

  /** Now, or when its turn has come. Whoever has the turn passes it on once, when the step has been performed. */
  take(begin: () => void): void {
    if (!this.isTaken) {
      this.isTaken = true
      return begin()
    }
    this.activeRun.begin()
    this.line.push(() => {
      begin()
      this.activeRun.end()
    })
  }

  pass(): void {
    const next = this.activeRun.isGone ? undefined : this.line.shift()
    if (next === undefined) this.isTaken = false
    // Not at once: a step that answers at once passes its turn on from within, and a long line would be a deep stack.
    else void Promise.resolve().then(next)
  }
}
