/**
 * Performs the steps of one run one after the other: a run holds one slot of a concurrency limit on steps.
 *
 * Owns the order of the steps. How many runs are at work at once is decided at the claim (model/flow/lane.ts).
 *
 * step-mutex-1  While one step is performed no other step of the run begins; steps begin in the order in which they were asked for.
 * step-mutex-2  A run with a step in the queue is at work: it is not parked.
 */
import type { ActiveRun } from '#engine/run/active-run.ts'

export class StepMutex {
  private readonly activeRun: Pick<ActiveRun, 'begin' | 'end' | 'isGone'>
  private readonly line: (() => void)[] = []
  private isTaken = false

  constructor(activeRun: Pick<ActiveRun, 'begin' | 'end' | 'isGone'>) {
    this.activeRun = activeRun
  }

  /** Calls `begin` at once or when its turn comes. The caller must call `pass` exactly once, when the step has been performed. */
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
    // Asynchronous: a step that answers at once calls `pass` from within `begin`, and a long queue would make a deep stack.
    else void Promise.resolve().then(next)
  }
}
