/**
 * A system in its one normal form: what the engine runs, however it was written.
 *
 * Owns the shape. YAML and the author API both produce it; the engine reads nothing else.
 */
import type { Circuit } from '#manifest/flow/circuit.ts'
import type { FlowDefinition } from '#manifest/flow/flow.ts'
import type { QueueDefinition } from '#manifest/flow/queues.ts'
import type { Schema } from '#manifest/schema/schema.ts'
import type { ScheduleDefinition } from '#manifest/time/schedule.ts'
import type { Finding } from '#manifest/yaml/finding.ts'
import type { HumanOnly } from '#model/access/human-only.ts'
import type { Module } from '#model/access/module.ts'
import type { ModelBook } from '#model/agent/agent.ts'
import type { ChatSpec } from '#model/chat/chat.ts'
import type { CancelRule } from '#model/event/cancel-on.ts'
import type { Limits } from '#model/flow/policies/constraints.ts'
import type { RetryPolicy } from '#model/flow/policies/retry.ts'
import type { Instant } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Modality } from '#model/kernel/modality.ts'
import type { Rule } from '#model/kernel/rule.ts'
import type { Effect } from '#model/run/step.ts'
import type { Placement } from '#model/worker/placement.ts'
import type { WorkflowSpec } from '#model/workflow/spec.ts'
import type { EndpointDefinition } from './endpoints.ts'
import type { ExecutorDefinition } from './executors.ts'
import type { Pool } from './placement.ts'
import type { SourceDefinition } from './sources.ts'
import type { ToolDefinition } from './tools.ts'
import type { WebhookDefinition } from './webhooks.ts'

export interface System {
  readonly name: string
  /** Pins each run to the definition under which it was started. */
  readonly hash: string
  /** Undeclared event types are accepted too. */
  readonly open: boolean
  readonly events: ReadonlyMap<string, EventDefinition>
  readonly functions: ReadonlyMap<string, FunctionDefinition>
  /** The listeners, by event type. */
  readonly listeners: ReadonlyMap<string, readonly Listener[]>
  /** Types that handlers declare to wait for while they run. */
  readonly awaited: ReadonlySet<string>
  /** True if any handler listens to or waits for lifecycle events: checked with every step. */
  readonly hearsLife: boolean
  readonly maxHops: number
  /** The field of an event's data that names its tenant; null: none does. */
  readonly tenantField: string | null
  /** Declared, or named by a function. */
  readonly pools: ReadonlyMap<string, Pool>
  /** The sources that must be watched, by name. */
  readonly sources: ReadonlyMap<string, SourceDefinition>
  /** By path. */
  readonly webhooks: ReadonlyMap<string, WebhookDefinition>
  /** Webhook endpoints and the events that are sent to them, by name. */
  readonly endpoints: ReadonlyMap<string, EndpointDefinition>
  /** Executors by type, without the built-in ones. */
  readonly executors: ReadonlyMap<string, ExecutorDefinition>
  readonly schedules: ReadonlyMap<string, ScheduleDefinition>
  readonly queues: ReadonlyMap<string, QueueDefinition>
  readonly chats: ReadonlyMap<string, ChatSpec>
  /** The tools that agents may be allowed to use, by name. */
  readonly tools: ReadonlyMap<string, ToolDefinition>
  readonly models: ModelBook
  /** Answers of the simulated model, by agent. */
  readonly scripts: ReadonlyMap<string, Json>
  /** The folder of its files; null: not given. */
  readonly folder: string | null
  /** What lint found in its text; empty for a system in code. */
  readonly findings: readonly Finding[]
}

export interface EventDefinition {
  readonly type: string
  readonly schema: Schema | null
  /** Only people may send it; null: programs may, too. */
  readonly only: HumanOnly | null
}

export interface Listener {
  readonly handler: FunctionDefinition
  /** The handler's triggers on this type: it starts once if any of them is true. An empty text is always true. */
  readonly filters: readonly Filter[]
}

export interface Filter {
  readonly text: string
  readonly rule: Rule | null
  /** Only events from this source count; null: any source. */
  readonly from: string | null
  /** The trigger's name, if it has its own flow control. */
  readonly trigger?: string
}

/** The filters that apply to events of this source; empty: the listener does not receive the event at all. */
export const filtersFor = ({ filters }: Listener, source: string): readonly Filter[] =>
  filters.every(({ from }) => from === null) ? filters : filters.filter(({ from }) => from === null || from === source)

/** True if any handler listens to this type from this source, or declares to wait for it. */
export const isListened = ({ listeners, awaited }: System, type: string, source: string): boolean =>
  awaited.has(type) || (listeners.get(type) ?? []).some((listener) => filtersFor(listener, source).length > 0)

export interface FunctionDefinition {
  readonly name: string
  /** The modality that does its work. */
  readonly modality: Modality
  /** What the modality executes: a function's code, or the definition of an agent or a human. */
  readonly code: unknown
  readonly effect: Effect
  readonly retry: RetryPolicy
  /** Longest time in code without durable progress. */
  readonly timeoutMs: number
  readonly deadline: { readonly startMs: number | null; readonly finishMs: number | null }
  readonly allowReentry: number
  /** Only its triggers start it, never a call by name. */
  readonly internal: boolean
  readonly input: Schema | null
  readonly output: Schema | null
  readonly placement: Placement
  /** Circuit breaker: holds back its steps while what they call keeps failing. */
  readonly circuit: Circuit | null
  /** Limits what its code may do; null: it is in no module and has no such limits. */
  readonly module: Module | null
  /** What it declares besides its code. */
  readonly workflow: WorkflowSpec
  /** Constraints on the executors of its tasks, whatever a step asks for. */
  readonly constraints: Limits
  /** Events that cancel its runs. */
  readonly cancelOn: readonly CancelRule[]
  /** Null: every matching event starts a run at once. */
  readonly flow: FlowDefinition | null
}

/** False for a function whose code is not written yet: a manifest may declare one. */
export const hasCode = ({
  code,
  workflow,
  modality,
}: Pick<FunctionDefinition, 'code' | 'workflow' | 'modality'>): boolean =>
  modality !== 'workflow' ||
  typeof code === 'function' ||
  workflow.plan !== null ||
  workflow.routing !== null ||
  workflow.fanIn !== null

export const deadlines = (
  definition: FunctionDefinition,
  now: Instant,
): { readonly startBy: Instant | null; readonly deadlineAt: Instant | null } => ({
  startBy: definition.deadline.startMs === null ? null : now + definition.deadline.startMs,
  deadlineAt: definition.deadline.finishMs === null ? null : now + definition.deadline.finishMs,
})
