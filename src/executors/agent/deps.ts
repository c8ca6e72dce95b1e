/**
 * What the agent hand is given from outside.
 *
 * Owns the list. Everything that touches the world, asks the time or rolls dice comes through here.
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
import type { Entry } from '#ports/step-gate.ts'
import type { Tool, ToolContext } from '#ports/tool.ts'
import type { ServedTool, ToolServers } from '#ports/tool-servers.ts'
import type { Workspaces } from '#ports/workspaces.ts'

export interface AgentDeps {
  readonly clock: Pick<Clock, 'now' | 'at'>
  readonly ids: Pick<Ids, 'digest' | 'roll'>
  readonly model: Model
  /** What a name of the system, or an id, stands for. */
  nameOf(name: string): ModelName
  /** The model of agents that name none. */
  readonly defaultModel: () => string
  /** How many tokens a model reads at once; null: not known. */
  contextOf(name: string): number | null
  /** Null: nobody knows. */
  price(
    provider: string,
    model: string,
    usage: ModelUsage,
  ): (Omit<Price, 'micros'> & { readonly micros: number }) | null
  /** Every tool there is, by its own name. */
  readonly tools: () => ReadonlyMap<string, Tool>
  /** Servers that bring tools of their own. */
  readonly servers: Pick<ToolServers, 'list' | 'tools'>
  /** How tools of this module reach the outside. */
  fetchFor(module: Module | null): ToolContext['fetch']
  readonly workspaces: Workspaces
  readonly blobs: Blobs
  /** The harness of this name. */
  backend(name: string): AgentBackend
  /** Whether this is one of our own tools for files, in whose place a harness may use its own. */
  isFileTool(name: string): boolean
  /** Issues, each with its place; none if the value fits. */
  check(schema: Json, value: Json): readonly string[]
  /** A CEL expression over named roots. */
  ask(rule: string, roots: { readonly [root: string]: Json }): RuleAnswer
  /** Any JSON whose texts may be templates. */
  fill(template: Json, roots: { readonly [root: string]: Json }): Json
  /** The members that an event declares; null: it names none. */
  fieldsOf(event: string): readonly string[] | null
  /** A file of the system's folder; null if there is none. Never one outside. */
  readFile(path: string): Promise<string | null>
  /** The files below a folder of the system's folder, from there; none if it is no folder. */
  filesIn(path: string): Promise<readonly string[]>
  /** Rows of a table that these fields select, and a template's text with such a row in it. */
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

/** What hydration has recorded: the prompt is the same at every wake, whatever changed outside. */
export interface Hydrated {
  readonly system: string
  readonly files: readonly FileFact[]
  readonly untrusted: boolean
  readonly tools: readonly OfferedTool[]
  /** What each of the agent's servers offered then, in the order of the servers. */
  readonly served: readonly (readonly ServedTool[])[]
  readonly ms: number
}

/** A tool as the model was shown it. */
export interface OfferedTool {
  readonly name: string
  readonly wire: string
  readonly description: string
  readonly input: Json
}
