/**
 * An agent in its normal form: instructions, what it may use, what it must answer, how far it may go. Data alone.
 *
 * Owns the shape that the manifest fills and the agent hand reads. Never runs anything.
 */
import type { Json } from '#model/kernel/json.ts'

export interface AgentSpec {
  readonly name: string
  readonly description: string
  /** The text of its instructions; null: they are read from `prompt` when a run begins. */
  readonly instructions: string | null
  /** Where the instructions are, in the order to look; relative to the folder of the system. */
  readonly prompt: readonly string[]
  /** A name of the system's models or a model's id; null: the system's default. */
  readonly model: string | null
  readonly fallbackModels: readonly string[]
  /** Empty: the model and its fallbacks. */
  readonly allowedModels: readonly string[]
  readonly temperature: number | null
  /** Who drives it, if not we: the name of a harness. Null: our own turns. */
  readonly backend: string | null
  readonly allowedTools: readonly string[]
  readonly permissionMode: PermissionMode
  /** What a call needs after strangers have spoken: a person's approval, or nothing. */
  readonly taint: 'ask' | 'allow'
  /** Handlers that it may start as children with the tool Task. */
  readonly subagents: readonly Subagent[]
  /** Agents that it may leave its work to, with the tool Handoff. */
  readonly handoffs: readonly string[]
  readonly mcpServers: readonly McpServer[]
  readonly context: { readonly rows: readonly ContextRows[]; readonly files: readonly ContextFile[] }
  readonly artifacts: readonly ArtifactSpec[]
  /** JSON Schema of its answer; null: text. */
  readonly output: Json | null
  /** What 1 means in `confidence`: 100 for percent. */
  readonly confidenceScale: number
  readonly escalationRules: readonly EscalationRule[]
  /** Who is asked when it needs a person. */
  readonly asks: { readonly users: readonly string[]; readonly groups: readonly string[] }
  readonly emits: readonly AgentEmit[]
  readonly limits: AgentLimits
  readonly workspace: { readonly cleanup: Cleanup; readonly snapshotOnFailure: boolean }
}

/** `default`: tools marked so ask a person. `acceptEdits`: edits of files do not. `bypassPermissions`: none does. */
export const PERMISSION_MODES = ['default', 'acceptEdits', 'bypassPermissions'] as const
export type PermissionMode = (typeof PERMISSION_MODES)[number]
export const CLEANUPS = ['on_success', 'on_complete', 'never'] as const
export type Cleanup = (typeof CLEANUPS)[number]

export interface Subagent {
  /** As the model names it. */
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
  /** Null: every tool it lists. */
  readonly tools: Readonly<Record<string, { readonly effect?: string; readonly approval?: boolean }>> | null
  readonly trusted: boolean
}

/** Rows of a table that become files of the workspace. */
export interface ContextRows {
  readonly table: string
  /** `dir/` makes a file per row. */
  readonly as: string
  /** A template of the system's folder; null: the row as JSON. */
  readonly template: string | null
  readonly mustHave: readonly string[]
  readonly where: string | null
  readonly orderBy: string | null
  readonly limit: number
  readonly untrusted: boolean
}

export interface ContextFile {
  /** In the folder of the system; null: `text` is the content. */
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
  /** CEL over `agent`; what cannot be answered escalates. */
  readonly condition: string
  readonly escalateTo: string
  readonly reason: string
}

/** An event that is sent when it ends. */
export interface AgentEmit {
  readonly event: string
  /** CEL over `output` and `payload`; null: always. */
  readonly when: string | null
  readonly on: EmitOn
  /** Templates over `output` and `payload`; null: what the event declares, from the output, then from the trigger's data. */
  readonly data: Json | null
}

export const EMIT_ON = ['success', 'failure', 'partial', 'always'] as const
export type EmitOn = (typeof EMIT_ON)[number]

export interface AgentLimits {
  /** Of all its model calls together. */
  readonly maxTokens: number
  /** Of one answer. */
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

/** What a model's name stands for. */
export interface ModelAlias {
  readonly alias: string
  /** Null: found from the id. */
  readonly provider: string | null
  readonly id: string
  readonly baseUrl: string | null
  readonly api: 'chat' | 'responses' | null
  /** How many tokens it reads at once. */
  readonly context: number | null
  /** Whether its provider takes a schema for the answer. */
  readonly structured: boolean | null
}

/** Dollars for a million tokens. */
export interface ModelPrice {
  readonly input: number
  readonly output: number
  readonly cachedInput: number | null
  readonly cacheWrites: number | null
}

/** The models of a system by name, their prices by id, and the name that is meant when none is given. */
export interface ModelBook {
  readonly fallback: string
  readonly aliases: ReadonlyMap<string, ModelAlias>
  readonly prices: ReadonlyMap<string, ModelPrice>
}
