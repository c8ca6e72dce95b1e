/**
 * The wiring of the agent executor: takes models, tools, files and schemas, and returns the executor. Loaded only for systems that have agents.
 *
 * Owns which implementation is used for each thing that agents need. Contains no rules.
 */
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { isHandlebars, renderHandlebars } from '#adapters/documents/handlebars.ts'
import { priceList } from '#adapters/models/ai-sdk/prices.ts'
import type { Models, Variables } from '#adapters/models/ai-sdk/registry.ts'
import { liquid } from '#adapters/models/ai-sdk/script.ts'
import { ScriptedModel } from '#adapters/models/ai-sdk/scripted.ts'
import { bashTool } from '#adapters/tools/bash.ts'
import { ConfinedFolder, partsOf } from '#adapters/tools/confined.ts'
import { fileTools } from '#adapters/tools/files.ts'
import { guardedFetch } from '#adapters/tools/guarded-fetch.ts'
import { mcpTools } from '#adapters/tools/mcp.ts'
import { webFetch } from '#adapters/tools/web-fetch.ts'
import { webSearch } from '#adapters/tools/web-search.ts'
import { FileWorkspaces } from '#adapters/tools/workspaces.ts'
import type { AgentDeps, ContextSource } from '#executors/agent/deps.ts'
import { callAlone, type ToolAnswer, type ToolCall } from '#executors/agent/direct-tool-call.ts'
import { type AgentHandler, enterAgent } from '#executors/agent/enter.ts'
import { selectRows } from '#executors/agent/select-rows.ts'
import type { System } from '#manifest/define/system.ts'
import { fieldsOf } from '#manifest/define/workflow.ts'
import { resolveReferences } from '#manifest/expressions/reference.ts'
import { compileRule } from '#manifest/expressions/rules.ts'
import { compileTemplate } from '#manifest/expressions/template.ts'
import { valueChecker } from '#manifest/schema/check-value.ts'
import { permits } from '#model/access/module.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { AgentBackend, BackendFactory } from '#ports/agent-backend.ts'
import type { Blobs } from '#ports/blobs.ts'
import type { Clock } from '#ports/clock.ts'
import type { Ids } from '#ports/ids.ts'
import type { Reader } from '#ports/reader.ts'
import type { Search } from '#ports/search.ts'
import type { Entry } from '#ports/step-port.ts'
import type { Tool } from '#ports/tool.ts'
import type { ToolServers } from '#ports/tool-servers.ts'
import { modelsFor, perSystem } from './models.ts'

/** Only a cache on this machine; used when the store is not a local file. */
const CACHE = join(tmpdir(), 'trihand-workspaces')

/** What the host application brings for agents itself; everything else is read from the environment. */
export interface AgentSettings {
  /** Answers every call, in place of the models that the keys in the environment would open. Default: those models. */
  readonly models?: Pick<Models, 'model' | 'nameOf'>
  /** Tools in addition to those of the system. Default: none. */
  readonly tools?: readonly Tool[]
  /** The search backend of the tool WebSearch. Default: none; the tool then says so. */
  readonly search?: Search
  /** The price of a call. Default: a list of known models. */
  readonly price?: AgentDeps['price']
  /** The folder that holds the agents' working directories. Default: beside a SQLite ledger, else in the system's folder for temporary files. */
  readonly workspaces?: string
  /** Harnesses by the name that an agent gives as its `backend`, in addition to `claude-agent`. Default: none. */
  readonly backends?: Readonly<Record<string, BackendFactory>>
}

export interface AgentsInput extends Omit<AgentSettings, 'workspaces'> {
  readonly system: () => System
  readonly clock: Clock
  readonly ids: Ids
  readonly blobs: Blobs
  readonly reader: Pick<Reader, 'document'>
  readonly environment: Variables
  /** The folder of the system's files (instructions, static files, templates), unless the system names its own. */
  readonly folder: string
  /** Null: a cache on this machine. */
  readonly workspaces: string | null
}

export interface AgentRuntime {
  enter(entry: Entry, handler: AgentHandler): Promise<unknown>
  /**
   * Throws if something that this definition needs is missing: keys, addresses, a readable script. Returns which models are simulated, and why;
   * null: none.
   */
  check(system: System): { readonly simulated: string | null }
  /** Calls a tool of the system for a caller that is not an agent. */
  callTool(request: ToolCall, signal: AbortSignal): Promise<ToolAnswer>
  /** Ends the child processes that serve tools. */
  close(): Promise<void>
}

const MAX_FILE = 1024 * 1024

const toolsFor = ({ tools = [], search }: AgentsInput, system: System): ReadonlyMap<string, Tool> => {
  const own = [...system.tools.values()] as unknown as readonly Tool[]
  return new Map(
    [...fileTools, webFetch, webSearch(search ?? null), bashTool(), ...tools, ...own].map((tool) => [tool.name, tool]),
  )
}

/** Reads a file of the system's folder, never one outside of it. */
const fileOf = ({ system, folder }: AgentsInput): AgentDeps['readFile'] => {
  return async (path) => {
    const confined = new ConfinedFolder(system().folder ?? folder)
    try {
      return new TextDecoder().decode(await confined.read(path.split(sep).join('/'), MAX_FILE))
    } catch (error) {
      if (error instanceof TrihandError && ['NOT_FOUND', 'FILE_NOT_REGULAR'].includes(error.code)) return null
      throw error
    }
  }
}

const codeOf = (error: unknown): string => String((error as { readonly code?: unknown }).code)

const MAX_FILES = 1_000

/** The files below a folder of the system's folder. Each is read like any other file of it, so a link is refused when it is read. */
const filesOf =
  ({ system, folder }: AgentsInput): AgentDeps['filesIn'] =>
  async (path) => {
    try {
      const files = await new ConfinedFolder(join(system().folder ?? folder, ...partsOf(path))).list(MAX_FILES)
      return files.map((file) => file.path)
    } catch (error) {
      // The folder does not exist, or is not a folder.
      if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return []
      throw error
    }
  }

const contextOf = (read: AgentDeps['readFile']): ContextSource => ({
  rows: selectRows,
  render: async (template, roots) => {
    const text = (await read(template)) ?? (await read(`templates/${template}`))
    if (text === null) throw new TrihandError('CONTEXT_MISSING', `there is no template ${template}`)
    try {
      if (isHandlebars(template)) return await renderHandlebars(template, text, roots)
      return String(await liquid.parseAndRender(text, roots as object))
    } catch (error) {
      if (error instanceof TrihandError) throw error
      throw new TrihandError('TEMPLATE_ERROR', `${template}: ${error instanceof Error ? error.message : String(error)}`)
    }
  },
})

/** Made when an agent first needs one; our own is loaded by its first query. */
const backendsFor = ({ backends = {}, environment, workspaces }: AgentsInput): AgentDeps['backend'] => {
  const made = new Map<string, AgentBackend>()
  const make = (name: string): AgentBackend => {
    const place = { root: join(workspaces ?? CACHE, name), environment }
    if (Object.hasOwn(backends, name)) return (backends[name] as BackendFactory)(place)
    if (name !== CLAUDE_AGENT) throw new TrihandError('CONFIG_INVALID', `there is no backend ${name}`)
    let loading: Promise<AgentBackend> | null = null
    const load = (): Promise<AgentBackend> => {
      loading ??= import('#adapters/models/claude-agent/claude-agent.ts').then(({ claudeAgent }) =>
        claudeAgent()(place),
      )
      return loading
    }
    return {
      work: async (job, signal) => (await load()).work(job, signal),
      forget: async (key) => (await load()).forget(key),
    }
  }
  return (name) => {
    const backend = made.get(name) ?? make(name)
    made.set(name, backend)
    return backend
  }
}

const CLAUDE_AGENT = 'claude-agent'

const ROOTS = ['output', 'payload', 'error', 'input', 'agent']

type ModelsOf = (system: System) => Pick<Models, 'model' | 'nameOf'>

const depsOf = (input: AgentsInput, modelsOf: ModelsOf, servers: ToolServers): AgentDeps => {
  const prices = perSystem((system) => input.price ?? priceList(system.models.prices))
  const tools = perSystem((system) => toolsFor(input, system))
  const models = () => modelsOf(input.system())
  const read = fileOf(input)
  const { clock, ids, blobs } = input
  return {
    clock,
    ids,
    model: { call: (request, signal) => models().model.call(request, signal) },
    nameOf: (name) => models().nameOf(name),
    defaultModel: () => input.system().models.fallback,
    contextOf: (name) => input.system().models.aliases.get(name)?.context ?? null,
    price: (provider, model, usage) => prices(input.system())(provider, model, usage),
    tools: () => tools(input.system()),
    servers,
    fetchFor: (module) =>
      guardedFetch({ allowsHost: (host) => module !== null && permits(module, { kind: 'host', name: host }) }),
    workspaces: new FileWorkspaces({ root: input.workspaces ?? CACHE, blobs, digest: (text) => ids.digest(text) }),
    blobs,
    backend: backendsFor(input),
    isFileTool: (name) => fileTools.includes(tools(input.system()).get(name) as Tool),
    check: valueChecker(),
    ask: (rule, roots) => compileRule(rule, ROOTS)(roots),
    fill: (template, roots) => compileTemplate(template, ROOTS)(roots),
    fieldsOf: (event) => fieldsOf(input.system().events.get(event)?.schema ?? null),
    readFile: read,
    filesIn: filesOf(input),
    context: contextOf(read),
  }
}

/** The tools that a function may call: those of its system. */
const ownTools = ({ tools }: System): ReadonlyMap<string, Tool> => tools as unknown as ReadonlyMap<string, Tool>

export const openAgents = (input: AgentsInput): AgentRuntime => {
  const modelsOf = perSystem(
    (system) => input.models ?? modelsFor(system, input.environment, new ScriptedModel(system.scripts)),
  )
  const servers = mcpTools({ resolve: (text) => resolveReferences(text, input.environment) })
  const deps = depsOf(input, modelsOf, servers)
  return {
    enter: enterAgent(deps),
    callTool: (request, signal) => callAlone(request, signal, ownTools(input.system()), deps),
    close: () => servers.close(),
    check: (system) => {
      const models = modelsOf(system)
      models.nameOf(system.models.fallback)
      // How the caller's own models answer is not checked here.
      return { simulated: 'simulated' in models ? (models.simulated as string | null) : null }
    },
  }
}
