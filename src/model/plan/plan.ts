/**
 * A plan: steps that wait for each other, each done by one of the three hands. Data, never code.
 *
 * Owns the shapes, and which step may begin after which. end.ts decides what a step's end means for the steps after it;
 * executors/workflow/plan/plan.ts performs steps; rules and templates arrive compiled.
 *
 * plan-1  A step begins when everything that it requires has ended, and no step waits for itself.
 */
import type { EscalationRule } from '#model/agent/agent.ts'
import type { CallTerms } from '#model/agent/call-terms.ts'
import type { RetryPolicy } from '#model/flow/policies/retry.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Modality } from '#model/kernel/modality.ts'
import type { Rule } from '#model/kernel/rule.ts'
import type { PlanStepSource } from './source.ts'

/** A compiled template. */
type Filler = (roots: { readonly [root: string]: Json }) => Json

/** The place of a step among the others. */
export interface PlanNode {
  readonly id: string
  /** Steps that must have ended before it begins. */
  readonly requires: readonly string[]
  /** Those of `requires` whose output it reads. */
  readonly reads: readonly string[]
  /** What it does after a "no" to a step that it requires. */
  readonly onReject: 'skip' | 'continue'
}

export interface Asked {
  readonly text: string
  readonly rule: Rule
}

export type PlanWork =
  | { readonly kind: 'call'; readonly handler: string; readonly hand: Modality }
  /** The task as its author writes it, after the template is filled in. */
  | { readonly kind: 'ask'; readonly task: Filler }
  | { readonly kind: 'wait'; readonly for: PlanWait; readonly onTimeout: 'continue' | 'fail' | 'escalate' }
  /** The plan may be stored, but not run. */
  | { readonly kind: 'nobody' }

/** An event, or a length of time. */
export type PlanWait =
  | { readonly event: string; readonly timeout: string | number | null }
  | { readonly duration: string | number }

export interface PlanStep extends PlanNode {
  readonly name: string
  /** Its expressions read steps that `reads` does not name: all of them, or one that is known only at run time. */
  readonly readsAll: boolean
  readonly when: Asked | null
  /** One child for each item of the list that this returns. */
  readonly each: Asked | null
  /** The name of an item in expressions. */
  readonly as: string
  /** What it waits for in addition to the steps before it: time, an event, or a person who starts it. */
  readonly before: PlanWait | 'manual' | null
  /** Null: the input of the plan, and the outputs of the steps that it requires. */
  readonly input: Filler | null
  readonly work: PlanWork
  readonly onFailure: 'fail' | 'skip' | 'human'
  /** Absent: the call passes the flow control of its handler. */
  readonly gate?: 'none'
  /** Terms for the run that it calls, in addition to its input; absent: none. */
  readonly terms?: CallTerms
  /** How often it is tried, and how long it waits between tries; absent: once. */
  readonly retry?: RetryPolicy
  /** How an end as `partial` is treated; absent: as success. */
  readonly onPartial?: 'continue' | 'fail'
  /** Throws if the output does not have the declared shape; absent: any output is accepted. */
  readonly check?: (output: Json) => Promise<void>
  /** Values that its agent is given in addition to its input. */
  readonly context?: Filler
  readonly onParentEnd: 'cancel' | 'detach'
  readonly escalation: readonly (EscalationRule & { readonly rule: Rule; readonly deadline?: string })[]
}

export interface PlanSpec {
  readonly goal: string
  readonly approve: 'human' | 'auto'
  readonly steps: readonly PlanStep[]
  /** The steps as they were written, in the same order: the start of a draft with the same goal, and what people are shown. */
  readonly written: readonly PlanStepSource[]
}

/** Returns a circle of steps, which begins and ends with the same step; null: there is none. Visits each step once. */
export const circleIn = (nodes: readonly PlanNode[]): readonly string[] | null => {
  const next = new Map(nodes.map(({ id, requires }) => [id, requires]))
  const walked = new Set<string>()
  for (const start of next.keys()) {
    const circle = circleFrom(start, next, walked)
    if (circle !== null) return circle
  }
  return null
}

/** `path`: the steps from the start to here, each with the number of its requirements that were visited so far. */
const circleFrom = (
  start: string,
  next: ReadonlyMap<string, readonly string[]>,
  walked: Set<string>,
): readonly string[] | null => {
  const path = new Map<string, number>(walked.has(start) ? [] : [[start, 0]])
  const stack = [...path.keys()]
  for (let at = stack.at(-1); at !== undefined; at = stack.at(-1)) {
    const done = path.get(at) ?? 0
    const to = next.get(at)?.[done]
    if (to === undefined) {
      stack.pop()
      path.delete(at)
      walked.add(at)
      continue
    }
    path.set(at, done + 1)
    if (path.has(to)) return [...stack.slice(stack.indexOf(to)), to]
    if (walked.has(to)) continue
    path.set(to, 0)
    stack.push(to)
  }
  return null
}

/** Returns the steps that are done again when `to` asks `from` for changes: `from` and the steps between, each after what it requires. */
export const againFor = <Node extends PlanNode>(nodes: readonly Node[], from: string, to: string): readonly Node[] => {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const order: Node[] = []
  const seen = new Map<string, boolean>()
  const isAgain = (id: string): boolean => {
    const known = seen.get(id)
    if (known !== undefined) return known
    const node = byId.get(id)
    // The steps that `from` itself requires are not repeated.
    const again = id === from || (node?.requires ?? []).filter((other) => isAgain(other)).length > 0
    seen.set(id, again)
    if (again && node !== undefined && id !== to) order.push(node)
    return again
  }
  isAgain(to)
  return order
}
