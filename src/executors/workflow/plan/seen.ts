/** What the expressions of a plan can read: its input, and the outputs of the steps that have ended. */
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import type { StepEnd } from '#model/plan/end.ts'
import type { PlanStep } from '#model/plan/plan.ts'
import type { Roots } from '#model/workflow/spec.ts'

interface SeenEnd extends Pick<StepEnd, 'status'> {
  readonly output: Json
}

type Members = { [name: string]: Json }

/** Adds names to the existing ones, in constant time however many there are. */
export const beside = (roots: Roots, names: Roots): Roots =>
  Object.assign(Object.create(roots) as object, names) as Roots

/**
 * What expressions can read: fields of the input, outputs by the ids of their steps, and the roots that all expressions have; later ones win.
 *
 * A chain is entered once for each of its steps, so anything made for every ended step costs the square of its length. A step is
 * shown the steps that it reads; all of them only if it refers to all, and those are kept for the next step that does.
 */
export class Seen {
  private readonly fields: { readonly [name: string]: Json }
  private readonly given: Roots
  private readonly done: ReadonlyMap<string, SeenEnd>
  private readonly all: { readonly outputs: Members; readonly steps: Members }
  /** Steps that have ended since all were last read. */
  private fresh: string[] = []

  constructor(input: Json, given: Roots, done: ReadonlyMap<string, SeenEnd>) {
    this.fields = isJsonRecord(input) ? input : {}
    this.given = { ...given, payload: input, inputs: input }
    this.done = done
    this.all = { outputs: this.withFields(), steps: {} }
  }

  /** A step has ended, or has ended again. */
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
