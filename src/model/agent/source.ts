/**
 * An agent as an author writes it.
 *
 * Owns only the options. manifest/define/agents.ts makes the normal form, with defaults and refusals.
 */
import type { CancelSource } from '#model/event/cancel-on.ts'
import type { Trigger } from '#model/event/watch.ts'
import type { FlowSource } from '#model/flow/policies/flow-source.ts'
import type { CircuitSource, PlacementSource } from '#model/worker/source.ts'
import type { WorkflowSource } from '#model/workflow/source.ts'
import type {
  AgentEmit,
  ArtifactSpec,
  Cleanup,
  ContextFile,
  ContextRows,
  EscalationRule,
  McpServer,
  PermissionMode,
} from './agent.ts'

type Duration = string | number

/** What an agent and its inner agents have in common. */
interface Talents {
  /** What it does, in words for the model of a parent agent. Default: nothing. */
  readonly description?: string
  /** The text of its instructions. Default: the file in `prompt`. */
  readonly instructions?: string
  /** The file with its instructions, in the folder of the system. Default: `agents/<name>/CLAUDE.md`, then `agents/<name>.md`. */
  readonly prompt?: string
  /** Its model: one of the system's names for models, or a model id. Default: the system's default model. */
  readonly model?: string
}

/** An agent inside another, which alone can call it: `{ name: 'reader', instructions: 'Read …', tools: ['Read'] }`. */
export interface SubagentSource extends Talents {
  /** The name by which its parent calls it. */
  readonly name: string
  /** The tools that it may use; those that its parent does not have are removed. Default: the tools of its parent. */
  readonly tools?: readonly string[]
  /** The schema of its answer. Default: it answers with text. */
  readonly outputSchema?: unknown
}

/** An MCP server whose tools an agent may use: `{ name: 'crm', url: 'https://crm.example/mcp' }`. It has either a url or a command. */
export interface McpServerSource {
  /** The name of the server; its tools are named after it. */
  readonly name: string
  /** The address of the server. */
  readonly url?: string
  /** The program that serves it, over its standard input and output. */
  readonly command?: string
  /** The arguments of the command. Default: none. */
  readonly args?: readonly string[]
  /** The environment of the command; values may be references like `${NAME}`. Default: nothing. */
  readonly env?: Readonly<Record<string, string>>
  /** What is known of its tools, by name: their effect, and whether a person approves a call. Default: every tool that the server lists. */
  readonly tools?: McpServer['tools']
  /** True: its tools send nothing to strangers, and what they return was not written by strangers. Default: false. */
  readonly trusted?: boolean
}

/** What an agent declares: `{ trigger: 'lead.found', instructions: 'Rate the lead.', outputSchema: Rating, allowedTools: ['Read'] }`. */
export interface AgentOptions
  extends Talents,
    FlowSource,
    PlacementSource,
    Pick<WorkflowSource, 'entity' | 'entityKey' | 'stateIn' | 'stateOut'> {
  /** What starts it: an event type, an event with a filter, or something to watch. Default: nothing but a call by name. */
  readonly trigger?: Trigger
  /** Several triggers, each as in `trigger`. Default: none. */
  readonly triggers?: readonly Trigger[]
  /** The schema of its input, any with `~standard`: input that does not fit is refused. Default: any JSON. */
  readonly input?: unknown
  /** The schema of its answer: JSON Schema, or a schema whose library can write it as such. Default: it answers with text. */
  readonly outputSchema?: unknown
  /** Events that are sent when it ends: types, or `{ event, when, on, data }` with CEL in `when`. Default: none. */
  readonly emits?: readonly (string | (Partial<AgentEmit> & { readonly event: string }))[]
  /** Models that are asked when the model before them cannot answer, in this order. Default: none. */
  readonly fallbackModels?: readonly string[]
  /** The only models that it may use; `model` and `fallbackModels` must be among them. Default: the model and its fallbacks. */
  readonly allowedModels?: readonly string[]
  /** The temperature of the model. Default: the provider's. */
  readonly temperature?: number
  /** A harness that drives the agent instead of our own loop: `claude-agent`, or one that the host brings. Default: our own loop. */
  readonly backend?: string
  /** The tools that it may use, by name: `['Read', 'WebSearch', 'FindCustomer']`. Default: none. */
  readonly allowedTools?: readonly string[]
  /**
   * `default`: tools marked for approval ask a person. `acceptEdits`: except edits of files. `bypassPermissions`: no tool asks. Default: `default`.
   */
  readonly permissionMode?: PermissionMode
  /** What an outgoing call needs once the agent has read untrusted content: a person's approval (`ask`), or nothing (`allow`). Default: `ask`. */
  readonly taint?: 'ask' | 'allow'
  /** Agents that it may start with the tool Task: other agents by name, or inner agents that only this one can call. Default: none. */
  readonly subagents?: readonly (string | SubagentSource)[]
  /** Agents that it may hand its work over to, by name, with the tool Handoff. Default: none. */
  readonly handoffs?: readonly string[]
  /** MCP servers whose tools it may use. Default: none. */
  readonly mcpServers?: readonly McpServerSource[]
  /** Files that lie in its workspace when it begins: rows of tables (`fromDb`) and files of the system's folder (`static`). Default: none. */
  readonly contextIn?: {
    readonly fromDb?: readonly (Partial<ContextRows> & { readonly table: string; readonly as: string })[]
    readonly static?: readonly (Partial<ContextFile> & { readonly dest: string })[]
  }
  /** Files that it leaves: `['report.md']`, or `{ file, required, persistTo }`. Default: none. */
  readonly artifacts?: readonly (string | (Partial<ArtifactSpec> & { readonly file: string }))[]
  /** The people who approve its calls and answer its questions. Default: the group `operators`. */
  readonly asks?: { readonly users?: readonly string[]; readonly groups?: readonly string[] }
  /** The value that means 1 in the `confidence` of its answers: 100 for percent. Default: 1. */
  readonly confidenceScale?: number
  /** When a person decides instead: `[{ condition: 'agent.confidence < 0.6', reason: 'Low confidence' }]`, with CEL. Default: never. */
  readonly escalationRules?: readonly (Partial<EscalationRule> & { readonly condition: string })[]
  /** The bounds of one run. Time is a duration; waiting for people does not count. */
  readonly limits?: {
    /** Tokens of all its model calls together. Default: 50,000. */
    readonly maxTokens?: number
    /** Tokens of one answer. Default: 4,096. */
    readonly maxOutputTokens?: number
    /** Calls of tools. Default: 50. */
    readonly maxToolCalls?: number
    /** Time in models and tools, a duration. Default: `300s`. */
    readonly timeout?: Duration
    /** Retries of a failed model call. Default: 3. */
    readonly maxRetries?: number
    /** Answers of the model. Default: 50. */
    readonly maxTurns?: number
    /** The cost of its model calls, in dollars: 0.5. Default: no limit. */
    readonly maxCostUsd?: number
    /** How deep its children may nest. Default: 4. */
    readonly maxDepth?: number
  }
  /** Its directory: when it is removed (`on_success`, `on_complete`, `never`), and whether a failed run keeps a copy. Default: `on_success`, true. */
  readonly workspace?: { readonly cleanup?: Cleanup; readonly snapshotOnFailure?: boolean }
  /** How long after it was asked for a run must have begun (`start`) and ended (`finish`), else it expires; durations. Default: no limit. */
  readonly deadline?: { readonly start?: Duration; readonly finish?: Duration }
  /** How often it may stand in the chain of causes that led to it, besides the first time. Default: 0, so that it never starts itself. */
  readonly allowReentry?: number
  /** True: only its triggers start it, never a call by name. Default: true if an event that only people may send starts it. */
  readonly internal?: boolean
  /** Events that cancel its runs: `[{ event: 'order.cancelled', match: 'payload.id' }]`. Default: none. */
  readonly cancelOn?: readonly CancelSource[]
  /** A circuit breaker for its steps. Default: none. */
  readonly circuit?: CircuitSource
}

/** An agent with its name, as `agent` gives it to a system. */
export interface AgentSource {
  /** Its name: a letter, then at most 63 of `a-z 0-9 _ -`. */
  readonly name: string
  /** What it declares. */
  readonly options: AgentOptions
}
