/**
 * Plans as an author writes them: the manifest's keys in camel case.
 *
 * Owns the options only. plan.ts has the compiled form.
 */
import type { RetryPolicy } from '#model/flow/policies/retry.ts'
import type { Effect } from '#model/run/step.ts'
import type { TaskOptions } from '#model/task/source.ts'

type Duration = string | number

export interface PlanStepSource {
  readonly id: string
  readonly name?: string
  /** `approval`, `review`, `input`, `decision`, `wait`, `generation`; any other type is the name of a function. */
  readonly type?: string
  /** `agent`, `human`, `workflow`, or a handler's name. */
  readonly assignedTo?: string
  readonly defaultModality?: 'agent' | 'human' | 'workflow'
  readonly requires?: readonly string[]
  /** CEL over `payload` and `steps.<id>.output`: if it is false, the step is skipped. */
  readonly when?: string
  /** CEL that gives a list: one child for each of its items. */
  readonly each?: string
  readonly as?: string
  /** `after:<id>`, `delay:<duration>`, `event:<type>` or `manual`. */
  readonly trigger?: string
  /** Templates over the same names. */
  readonly inputs?: Readonly<Record<string, unknown>>
  readonly agentConfig?: {
    readonly agentId?: string
    /** Replace what the agent is defined with: a model, its instructions (or the path of an `.md` file), a JSON Schema. */
    readonly model?: string
    readonly prompt?: string
    readonly outputSchema?: unknown
    /** Given to the agent as `context` in addition to its input: values and templates. */
    readonly context?: unknown
  }
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
    /** How long the person who takes over has to answer. */
    readonly deadline?: string
  }[]
  /** What people see in an approval, and what they go through in a review. */
  readonly approvalConfig?: Readonly<Record<string, unknown>>
  readonly reviewConfig?: { readonly checklist?: readonly unknown[] }
  /** JSON Schema of the output. */
  readonly outputSchema?: unknown
  /** The effect of the call: `once` or `transactional`, if the function is `idempotent`. */
  readonly effect?: Effect
  /** How often it is tried, and how long it waits between tries. */
  readonly retry?: Partial<RetryPolicy>
  /** A call and a question end within this time; a wait for an event stops. */
  readonly timeout?: Duration
  /** How a call that ended partial is treated: as good enough (default), as a place to continue from, or as a failure. */
  readonly onPartial?: 'accept' | 'continue' | 'fail'
  readonly onFailure?: 'fail' | 'skip' | 'human' | 'replan'
  /** After a "no" to a step that it requires: `skip` (default), or `continue`. */
  readonly onReject?: 'skip' | 'continue'
  /** `none`: the call does not pass the flow control of its handler. */
  readonly gate?: 'none'
  /** What happens to its run if the plan ends first: `cancel` (default), or `detach`, which lets it continue. */
  readonly onParentEnd?: 'cancel' | 'detach'
}

export interface PlanSource {
  readonly goal?: string
  /** A line for each step: `c. Send emails (requires steps a and b)`. */
  readonly text?: string
  readonly steps?: readonly PlanStepSource[]
  /** `human` (default): people see the steps and approve them before any of them begins. */
  readonly approve?: 'human' | 'auto'
}
