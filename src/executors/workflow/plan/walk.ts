/**
 * The order of execution of a plan: each step begins when the last step that it requires ends (plan-1).
 *
 * Steps that ended before this entry are skipped without a promise: when a long plan is entered again, promises would cost as much as the
 * steps themselves.
 */
import { graphOf } from '#model/plan/graph.ts'
import type { PlanStep } from '#model/plan/plan.ts'
import type { Ended } from './refusal.ts'

export interface Walker {
  /** How the step ended before; null: it must be performed or waited for. */
  endedBefore(step: PlanStep): Ended | null
  perform(step: PlanStep): Promise<Ended>
  ended(step: PlanStep, end: Ended): void
}

/** Resolves when every step has ended; rejects with the first error. */
export const walk = (steps: readonly PlanStep[], walker: Walker): Promise<void> =>
  new Promise((resolve, reject) => {
    const { waitsFor, behind } = graphOf(steps)
    const left = [...waitsFor]
    const ready = left.flatMap((count, at) => (count === 0 ? at : []))
    let ended = 0
    const finish = (at: number, step: PlanStep, end: Ended): void => {
      walker.ended(step, end)
      ended += 1
      for (const next of behind[at] ?? []) {
        const count = (left[next] ?? 1) - 1
        left[next] = count
        if (count === 0) ready.push(next)
      }
    }
    const advance = (): void => {
      for (const at of ready) {
        const step = steps[at] as PlanStep
        const before = walker.endedBefore(step)
        if (before !== null) finish(at, step, before)
        else
          walker.perform(step).then((end) => {
            finish(at, step, end)
            advance()
          }, reject)
      }
      ready.length = 0
      if (ended === steps.length) resolve()
    }
    advance()
  })
