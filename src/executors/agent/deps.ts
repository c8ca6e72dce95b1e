/**
 * What the agent executor receives from outside.
 *
 * Owns the list. Everything that reaches the outside, reads the time or uses randomness comes through here.
 */
import type { Module } from '#model/access/module.ts'
import type { FileFact, Price } from '#model/agent/state.ts'
import type { ModelUsage } from '#model/chat/conversation.ts'
import type { Json } from '#model/kernel/json.ts'
import type { RuleAnswer } from '#model/kernel/rule.ts'
import type { AgentBackend } from '#ports/agent-backend.ts'
import type { Blobs } from '#ports/blobs.ts'
import type { Clock } from '#ports/clock.ts'
import type { Ids } from '#ports/ids.ts'
import type { Model, ModelName } from '#ports/model.ts'
import type { Entry } from '#ports/step-port.ts'
import type { Tool, ToolContext } from '#ports/tool.ts'
import type { ServedTool, ToolServers } from '#ports/tool-servers.ts'
import type { Workspaces } from '#ports/workspaces.ts'

export interface AgentDeps {
  readonly clock: Pick<Clock, 'now' | 'at'>
  readonly ids: Pick<Ids, 'digest' | 'roll'>
  readonly model: Model
  /** The model behind a name of the system, or behind an id. */
  nameOf(name: string): ModelName
  /** The model of agents that name none. */
  readonly defaultModel: () => string
  /** The size of a model's context window in tokens; null: not known. */
  contextOf(name: string): number | null
  /** Null: no price is known. */
  price(
    provider: string,
    model: string,
    usage: ModelUsage,
  ): (Omit<Price, 'micros'> & { readonly micros: number }) | null
  /** Every tool that exists, by its own name. */
  readonly tools: () => ReadonlyMap<string, Tool>
  /** Servers that bring their own tools. */
  readonly servers: Pick<ToolServers, 'list' | 'tools'>
  /** The fetch for tools of this module. */
  fetchFor(module: Module | null): ToolContext['fetch']
  readonly workspaces: Workspaces
  readonly blobs: Blobs
  /** The harness of this name. */
  backend(name: string): AgentBackend
  /** True for our own file tools, which a harness may replace by its own. */
  isFileTool(name: string): boolean
  /** Issues, each with its path; empty if the value fits. */
  check(schema: Json, value: Json): readonly string[]
  /** Evaluates a CEL expression over named roots. */
  ask(rule: string, roots: { readonly [root: string]: Json }): RuleAnswer
  /** Fills the templates in the texts of any JSON value. */
  fill(template: Json, roots: { readonly [root: string]: Json }): Json
  /** The members that an event declares; null: it declares none. */
  fieldsOf(event: string): readonly string[] | null
  /** A file of the system's folder, never one outside; null if it does not exist. */
  readFile(path: string): Promise<string | null>
  /** The files below a folder of the system's folder, relative to it; empty if it is not a folder. */
  filesIn(path: string): Promise<readonly string[]>
  /** Rows of a table that these fields select, and a template's text filled with one such row. */
  readonly context: ContextSource
}

export interface ContextSource {
  rows(query: RowQuery): Promise<readonly Json[]>
  render(template: string, roots: Json): Promise<string>
}

export interface RowQuery {
  readonly table: string
  readonly where: string | null
  readonly orderBy: string | null
  readonly limit: number
  readonly input: Json
  /** Documents of the run's own tenant. */
  readonly documents: Pick<Entry, 'document' | 'documents'>
}

/** What hydration recorded: the prompt is the same at every wake, even if something changed outside. */
export interface Hydrated {
  readonly system: string
  readonly files: readonly FileFact[]
  readonly untrusted: boolean
  readonly tools: readonly OfferedTool[]
  /** What each of the agent's servers offered at that time, in the order of the servers. */
  readonly served: readonly (readonly ServedTool[])[]
  readonly ms: number
}

/** A tool as it was shown to the model. */
export interface OfferedTool {
  readonly name: string
  readonly wire: string
  readonly description: string
  readonly input: Json
}
