/**
 * A plan: steps that wait for each other, each done by one hand. Data, never code.
 *
 * Owns the shapes, and which step may begin after which. What an end means for the steps behind it is plan-end.ts; who performs a
 * step is executors/workflow/plan/plan.ts; rules and templates arrive compiled.
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
  /** Its expressions speak of steps that `reads` does not name: of all of them, or of one that is found out later. */
  readonly readsAll: boolean
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
  /** Absent: what it calls passes the flow control of its handler. */
  readonly gate?: 'none'
  /** What is asked of the run that it calls, beside its input; absent: nothing. */
  readonly terms?: CallTerms
  /** How often it is tried, and how long it waits in between; absent: once. */
  readonly retry?: RetryPolicy
  /** What an end as `partial` is; absent: good enough. */
  readonly onPartial?: 'continue' | 'fail'
  /** Throws if the output does not fit what the step promises; absent: anything fits. */
  readonly check?: (output: Json) => Promise<void>
  /** Values that its agent is given beside its input. */
  readonly context?: Filler
  readonly onParentEnd: 'cancel' | 'detach'
  readonly escalation: readonly (EscalationRule & { readonly rule: Rule; readonly deadline?: string })[]
}

export interface PlanSpec {
  readonly goal: string
  readonly approve: 'human' | 'auto'
  readonly steps: readonly PlanStep[]
  /** As they were written, in the same order: what a draft with the same goal begins with, and what people are shown. */
  readonly written: readonly PlanStepSource[]
}

/** The circle that steps stand in, beginning and ending with the same one; null: there is none. Each step is walked over once. */
export const circleIn = (nodes: readonly PlanNode[]): readonly string[] | null => {
  const next = new Map(nodes.map(({ id, requires }) => [id, requires]))
  const walked = new Set<string>()
  for (const start of next.keys()) {
    const circle = circleFrom(start, next, walked)
    if (circle !== null) return circle
  }
  return null
}

/** `path`: the steps from the start to here, and how many of its requirements each has walked so far. */
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
