/**
 * Plans as an author writes them: the manifest's keys in camel case.
 *
 * Owns the options only. What they come to is plan.ts.
 */
import type { TaskOptions } from './task-source.ts'

type Duration = string | number

export interface PlanStepSource {
  readonly id: string
  readonly name?: string
  /** `approval`, `review`, `input`, `decision`, `wait`, `generation`; any other is the function of that name. */
  readonly type?: string
  /** `agent`, `human`, `workflow`, or a handler's name. */
  readonly assignedTo?: string
  readonly defaultModality?: 'agent' | 'human' | 'workflow'
  readonly requires?: readonly string[]
  /** CEL over `payload` and `steps.<id>.output`: false leaves it out. */
  readonly when?: string
  /** CEL that gives a list: one child for each of its items. */
  readonly each?: string
  readonly as?: string
  /** `after:<id>`, `delay:<duration>`, `event:<type>` or `manual`. */
  readonly trigger?: string
  /** Templates over the same names. */
  readonly inputs?: Readonly<Record<string, unknown>>
  readonly agentConfig?: { readonly agentId?: string }
  readonly humanConfig?: TaskOptions & {
    readonly allowedActions?: TaskOptions['actions']
    readonly approvalBundleId?: string
  }
  readonly workflowConfig?: { readonly functionName?: string; readonly inputs?: Readonly<Record<string, unknown>> }
  readonly waitConfig?: {
    readonly duration?: Duration
    readonly untilEvent?: string
    readonly timeout?: Duration
    readonly timeoutAction?: 'continue' | 'fail' | 'escalate'
  }
  readonly escalationRules?: readonly {
    readonly condition: string
    readonly escalateTo?: string
    readonly reason?: string
  }[]
  readonly onFailure?: 'fail' | 'skip' | 'human' | 'replan'
  /** After a "no" to something that it requires: `skip` (default), or `continue`. */
  readonly onReject?: 'skip' | 'continue'
  /** `none`: what it calls does not pass the flow control of its handler. */
  readonly gate?: 'none'
  /** What becomes of its run if the plan ends first: `cancel` (default), or `detach`, which lets it go on. */
  readonly onParentEnd?: 'cancel' | 'detach'
}

export interface PlanSource {
  readonly goal?: string
  /** A line for each step: `c. Send emails (requires steps a and b)`. */
  readonly text?: string
  readonly steps?: readonly PlanStepSource[]
  /** `human` (default): people see the steps and agree before any of them begins. */
  readonly approve?: 'human' | 'auto'
}
