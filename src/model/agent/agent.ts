/**
 * An agent in its normal form: its instructions, tools, expected answer and limits. Only data.
 *
 * Owns the shape that the manifest fills and the agent executor reads. Never runs anything.
 */
import type { Json } from '#model/kernel/json.ts'

export interface AgentSpec {
  readonly name: string
  readonly description: string
  /** The text of its instructions; null: they are read from `prompt` when a run begins. */
  readonly instructions: string | null
  /** The files of the instructions, in the order of lookup; relative to the folder of the system. */
  readonly prompt: readonly string[]
  /** The name of one of the system's models, or a model id; null: the system's default. */
  readonly model: string | null
  readonly fallbackModels: readonly string[]
  /** Empty: the model and its fallbacks. */
  readonly allowedModels: readonly string[]
  readonly temperature: number | null
  /** The name of the harness that drives it. Null: our own turns. */
  readonly backend: string | null
  readonly allowedTools: readonly string[]
  readonly permissionMode: PermissionMode
  /** What a call requires once untrusted content was read: a person's approval (`ask`), or nothing (`allow`). */
  readonly taint: 'ask' | 'allow'
  /** Handlers that it may start as children with the tool Task. */
  readonly subagents: readonly Subagent[]
  /** Agents that it may hand its work over to, with the tool Handoff. */
  readonly handoffs: readonly string[]
  readonly mcpServers: readonly McpServer[]
  readonly context: { readonly rows: readonly ContextRows[]; readonly files: readonly ContextFile[] }
  readonly artifacts: readonly ArtifactSpec[]
  /** JSON Schema of its answer; null: text. */
  readonly output: Json | null
  /** The value that means 1 in `confidence`: 100 for percent. */
  readonly confidenceScale: number
  readonly escalationRules: readonly EscalationRule[]
  /** The people who are asked when it needs one. */
  readonly asks: { readonly users: readonly string[]; readonly groups: readonly string[] }
  readonly emits: readonly AgentEmit[]
  readonly limits: AgentLimits
  readonly workspace: { readonly cleanup: Cleanup; readonly snapshotOnFailure: boolean }
}

/** `default`: tools marked for approval ask a person. `acceptEdits`: except edits of files. `bypassPermissions`: no tool asks. */
export const PERMISSION_MODES = ['default', 'acceptEdits', 'bypassPermissions'] as const
export type PermissionMode = (typeof PERMISSION_MODES)[number]
export const CLEANUPS = ['on_success', 'on_complete', 'never'] as const
export type Cleanup = (typeof CLEANUPS)[number]

export interface Subagent {
  /** The name that the model uses. */
  readonly name: string
  readonly description: string
  /** The handler that does the work. */
  readonly handler: string
}

export interface McpServer {
  readonly name: string
  readonly url: string | null
  readonly command: string | null
  readonly args: readonly string[]
  /** Values may be references like `${NAME}`. */
  readonly env: Readonly<Record<string, string>>
  /** Null: every tool that the server lists. */
  readonly tools: Readonly<Record<string, { readonly effect?: string; readonly approval?: boolean }>> | null
  readonly trusted: boolean
}

/** Rows of a table that become files of the workspace. */
export interface ContextRows {
  readonly table: string
  /** `dir/` makes a file per row. */
  readonly as: string
  /** The path of a template in the folder of the system; null: the row as JSON. */
  readonly template: string | null
  readonly mustHave: readonly string[]
  readonly where: string | null
  readonly orderBy: string | null
  readonly limit: number
  readonly untrusted: boolean
}

export interface ContextFile {
  /** A path in the folder of the system; null: `text` is the content. */
  readonly source: string | null
  readonly text: string | null
  readonly dest: string
  readonly untrusted: boolean
}

export interface ArtifactSpec {
  readonly file: string
  readonly required: boolean
  readonly persistTo: 'blob' | 'database' | 'none'
}

export interface EscalationRule {
  /** CEL over `agent`; a condition that cannot be evaluated escalates. */
  readonly condition: string
  readonly escalateTo: string
  readonly reason: string
}

/** An event that is sent when the agent ends. */
export interface AgentEmit {
  readonly event: string
  /** CEL over `output` and `payload`; null: always. */
  readonly when: string | null
  readonly on: EmitOn
  /** Templates over `output` and `payload`; null: the members that the event declares, from the output, then from the trigger's data. */
  readonly data: Json | null
}

export const EMIT_ON = ['success', 'failure', 'partial', 'always'] as const
export type EmitOn = (typeof EMIT_ON)[number]

export interface AgentLimits {
  /** For all its model calls together. */
  readonly maxTokens: number
  /** For one answer. */
  readonly maxOutputTokens: number
  readonly maxToolCalls: number
  /** Time in models and tools; waiting for people does not count. */
  readonly timeoutMs: number
  readonly maxRetries: number
  readonly maxTurns: number
  /** In micro-dollars. */
  readonly maxCost: number | null
  /** How deep its children may nest. */
  readonly maxDepth: number
}

/** The model behind a name. */
export interface ModelAlias {
  readonly alias: string
  /** Null: derived from the id. */
  readonly provider: string | null
  readonly id: string
  readonly baseUrl: string | null
  readonly api: 'chat' | 'responses' | null
  /** The size of its context in tokens. */
  readonly context: number | null
  /** True if its provider accepts a schema for the answer. */
  readonly structured: boolean | null
}

/** Dollars per million tokens. */
export interface ModelPrice {
  readonly input: number
  readonly output: number
  readonly cachedInput: number | null
  readonly cacheWrites: number | null
}

/** The models of a system by name, their prices by id, and the default name. */
export interface ModelBook {
  readonly fallback: string
  readonly aliases: ReadonlyMap<string, ModelAlias>
  readonly prices: ReadonlyMap<string, ModelPrice>
}
