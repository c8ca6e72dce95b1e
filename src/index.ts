/**
 * The public names of trihand: what a program calls, and the types that it must name.
 *
 * At most thirty values. Types are exported where a program needs to write their name: what it passes, gets or implements.
 */

export { createTrihand } from '#compose/assemble.ts'
export { serveExecutor } from '#compose/executors.ts'
export type { Trihand, TrihandOptions } from '#compose/trihand.ts'
export type { IncomingEvent, Receipt, Rehearsal, SendOptions, StartOptions } from '#engine/core/incoming.ts'
export type { Observer } from '#engine/core/observers.ts'
export type { Change, RunNotice } from '#engine/core/publish.ts'
export type { Subscriptions, Topics, Unsubscribe } from '#engine/core/subscriptions.ts'
export type { TokenChunk } from '#engine/core/token-stream.ts'
export type { RunResult } from '#engine/outcome/result.ts'
export type { Decision } from '#engine/tasks/tasks.ts'
export { tool } from '#executors/agent/tool.ts'
export { type ExecutorOptions, type ExecutorSource, executor } from '#executors/registry.ts'
export {
  type CodeInFile,
  type FunctionContext,
  type FunctionOptions,
  fn,
  type Handler,
} from '#executors/workflow/function.ts'
export type { Duration, RunOptions, Step, WaitOptions, WaitResult } from '#executors/workflow/step-api.ts'
export type { EmbedOptions, Identify, Visitor } from '#http/server/embed.ts'
export type { ServeOptions } from '#http/server/serve-executor.ts'
export type { Service } from '#http/server/service.ts'
export { agent } from '#manifest/define/agents.ts'
export { defineSystem, type SystemSource } from '#manifest/define/define.ts'
export type { WebhookSource } from '#manifest/define/webhooks.ts'
export { type HumanOptions, type HumanSource, human } from '#manifest/human/humans.ts'
export type { ScheduleOptions } from '#manifest/time/schedule.ts'
export type { AgentOptions, AgentSource, McpServerSource, SubagentSource } from '#model/agent/source.ts'
export type { ToolOptions, ToolSource } from '#model/agent/tool-source.ts'
export type { StoredEvent } from '#model/event/event.ts'
export type { Trigger } from '#model/event/watch.ts'
export type { QueueSource } from '#model/flow/queue-source.ts'
export { type ErrorCode, TrihandError } from '#model/kernel/errors.ts'
export type { RunId, SessionId, TaskId, TenantId } from '#model/kernel/ids.ts'
export type { Json } from '#model/kernel/json.ts'
export type { RunStatus } from '#model/run/status.ts'
export { FinalError, StepFailure } from '#model/run/step-failure.ts'
export type { TaskOptions } from '#model/task/source.ts'
export type { Identity } from '#model/task/spec.ts'
export type { FunctionSource, TriggerSource } from '#model/workflow/function-source.ts'
export type { StepContext } from '#ports/step-port.ts'
export type { ToolContext } from '#ports/tool.ts'
