/** What the expressions of a plan see: its input, and what its steps have ended with. */
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type { StepEnd } from '#model/plan/end.ts'
import type { PlanStep } from '#model/plan/plan.ts'
import type { Roots } from '#model/workflow/spec.ts'

interface SeenEnd extends Pick<StepEnd, 'status'> {
  readonly output: Json
}

type Members = { [name: string]: Json }

/** Names beside those that are there already: made in the same time however many there are. */
export const beside = (roots: Roots, names: Roots): Roots =>
  Object.assign(Object.create(roots) as object, names) as Roots

/**
 * What expressions see: fields of the input, outputs by the ids of their steps, and the roots that all expressions have; later ones win.
 *
 * A chain is entered once for each of its steps, so that anything made for every step that has ended costs the square of its length. A step
 * is shown the steps that it reads; all of them only if it speaks of all, and those are kept for the next step that does.
 */
export class Seen {
  private readonly fields: { readonly [name: string]: Json }
  private readonly given: Roots
  private readonly done: ReadonlyMap<string, SeenEnd>
  private readonly all: { readonly outputs: Members; readonly steps: Members }
  /** Steps that have ended since all were last asked for. */
  private fresh: string[] = []

  constructor(input: Json, given: Roots, done: ReadonlyMap<string, SeenEnd>) {
    this.fields = isJsonRecord(input) ? input : {}
    this.given = { ...given, payload: input, inputs: input }
    this.done = done
    this.all = { outputs: this.withFields(), steps: {} }
  }

  /** A step has ended, or has ended anew. */
  add(id: string): void {
    this.fresh.push(id)
  }

  by(step: PlanStep): Roots {
    const { id, name } = step
    const { outputs, steps } = step.readsAll ? this.whole() : this.read(step.reads)
    const own = { id, name, ...this.fields }
    return beside(outputs, { ...this.given, steps, step: own, subtask: own })
  }

  private withFields(): Members {
    return Object.assign(Object.create(null) as Members, this.fields)
  }

  private read(ids: readonly string[]): Seen['all'] {
    const seen = { outputs: this.withFields(), steps: {} }
    for (const id of ids) this.show(id, seen)
    return seen
  }

  private whole(): Seen['all'] {
    for (const id of this.fresh) this.show(id, this.all)
    this.fresh = []
    return this.all
  }

  private show(id: string, { outputs, steps }: Seen['all']): void {
    const end = this.done.get(id)
    if (end === undefined) return
    outputs[id] = end.output
    steps[id] = { status: end.status, output: end.output }
  }
}
