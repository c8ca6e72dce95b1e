/** What the expressions of a plan see: its input, and what its steps have ended with. */
import { isJsonRecord, type Json } from '../../model/json.ts'
import type { PlanStep } from '../../model/plan.ts'
import type { StepEnd } from '../../model/plan-end.ts'
import type { Roots } from '../../model/workflow-spec.ts'

interface SeenEnd extends Pick<StepEnd, 'status'> {
  readonly output: Json
}

/** Names beside those that are there already: made in the same time however many there are. */
export const beside = (roots: Roots, names: Roots): Roots =>
  Object.assign(Object.create(roots) as object, names) as Roots

/**
 * What expressions see: fields of the input, outputs by the ids of their steps, and the roots that all expressions have; later ones win.
 *
 * Grows with each step that ends, and is never copied: a chain is entered once for each of its steps, so that one copy per step would
 * cost the third power of its length. A step names the steps that it reads, and begins after them: what else has ended changes nothing.
 */
export class Seen {
  private readonly fields: { readonly [name: string]: Json }
  private readonly outputs: { [id: string]: Json }
  private readonly steps: { [id: string]: Json } = {}
  private readonly roots: Roots

  constructor(input: Json, given: Roots) {
    this.fields = isJsonRecord(input) ? input : {}
    this.outputs = Object.assign(Object.create(null) as object, this.fields)
    this.roots = beside(this.outputs, { ...given, payload: input, inputs: input, steps: this.steps })
  }

  add(id: string, { status, output }: SeenEnd): void {
    this.outputs[id] = output
    this.steps[id] = { status, output }
  }

  by({ id, name }: PlanStep): Roots {
    const step = { id, name, ...this.fields }
    return beside(this.roots, { step, subtask: step })
  }
}
