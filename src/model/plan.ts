/**
 * A plan: steps that wait for each other, each done by one hand. Data, never code.
 *
 * Owns the shapes, and which step may begin after which. What an end means for the steps behind it is plan-end.ts; who performs a
 * step is executors/workflow/plan.ts; rules and templates arrive compiled.
 *
 * plan-1  A step begins when everything that it requires has ended, and no step waits for itself.
 */
import type { EscalationRule } from './agent.ts'
import type { Json } from './json.ts'
import type { Modality } from './modality.ts'
import type { PlanStepSource } from './plan-source.ts'
import type { Rule } from './rule.ts'

/** A template that was compiled. */
type Filler = (roots: { readonly [root: string]: Json }) => Json

/** Where a step stands among the others. */
export interface PlanNode {
  readonly id: string
  /** Steps that must have ended before. */
  readonly requires: readonly string[]
  /** Of these: steps whose output it speaks of. */
  readonly reads: readonly string[]
  /** What it does after a "no" to something that it requires. */
  readonly onReject: 'skip' | 'continue'
}

export interface Asked {
  readonly text: string
  readonly rule: Rule
}

export type PlanWork =
  | { readonly kind: 'call'; readonly handler: string; readonly hand: Modality }
  /** The task as its author writes it, once it is filled in. */
  | { readonly kind: 'ask'; readonly task: Filler }
  | { readonly kind: 'wait'; readonly for: PlanWait; readonly onTimeout: 'continue' | 'fail' | 'escalate' }
  /** It may be kept, not run. */
  | { readonly kind: 'nobody' }

/** An event, or a length of time. */
export type PlanWait =
  | { readonly event: string; readonly timeout: string | number | null }
  | { readonly duration: string | number }

export interface PlanStep extends PlanNode {
  readonly name: string
  readonly when: Asked | null
  /** One child for each item of the list that it gives. */
  readonly each: Asked | null
  /** What an item is called. */
  readonly as: string
  /** What it waits for beside the steps before it: time, an event, or a person's word. */
  readonly before: PlanWait | 'manual' | null
  /** Null: what the plan was given, and the outputs of what it requires. */
  readonly input: Filler | null
  readonly work: PlanWork
  readonly onFailure: 'fail' | 'skip' | 'human'
  readonly escalation: readonly (EscalationRule & { readonly rule: Rule })[]
}

export interface PlanSpec {
  readonly goal: string
  readonly approve: 'human' | 'auto'
  readonly steps: readonly PlanStep[]
  /** As they were written, in the same order: what a draft with the same goal begins with, and what people are shown. */
  readonly written: readonly PlanStepSource[]
}

/** The circle that steps stand in, beginning and ending with the same one; null: there is none. */
export const circleIn = (nodes: readonly PlanNode[]): readonly string[] | null => {
  const next = new Map(nodes.map(({ id, requires }) => [id, requires]))
  for (const start of next.keys()) {
    const circle = circleFrom(start, next)
    if (circle !== null) return circle
  }
  return null
}

const circleFrom = (start: string, next: ReadonlyMap<string, readonly string[]>): readonly string[] | null => {
  const stack: (readonly string[])[] = [[start]]
  const seen = new Set<string>()
  for (let path = stack.pop(); path !== undefined; path = stack.pop())
    for (const to of next.get(path.at(-1) ?? '') ?? []) {
      if (to === start) return [...path, start]
      if (seen.has(to)) continue
      seen.add(to)
      stack.push([...path, to])
    }
  return null
}

/** The steps that are done again when `to` asks `from` for changes: `from` and what stands between, each after what it requires. */
export const againFor = <Node extends PlanNode>(nodes: readonly Node[], from: string, to: string): readonly Node[] => {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const order: Node[] = []
  const seen = new Map<string, boolean>()
  const isAgain = (id: string): boolean => {
    const known = seen.get(id)
    if (known !== undefined) return known
    const node = byId.get(id)
    // What `from` itself requires stays as it is.
    const again = id === from || (node?.requires ?? []).filter((other) => isAgain(other)).length > 0
    seen.set(id, again)
    if (again && node !== undefined && id !== to) order.push(node)
    return again
  }
  isAgain(to)
  return order
}
