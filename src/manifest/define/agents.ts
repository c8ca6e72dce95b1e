/**
 * Brings agents from what an author writes to the normal form.
 *
 * Owns their spelling, their defaults and every refusal at definition time. Never reads a file and calls no model.
 */
import { compileRule, EMIT_ROOTS } from '#manifest/expressions/rules.ts'
import { jsonSchemaOf } from '#manifest/schema/json-schema.ts'
import { durationMs } from '#manifest/time/duration.ts'
import {
  type AgentEmit,
  type AgentLimits,
  type AgentSpec,
  type ArtifactSpec,
  CLEANUPS,
  type Cleanup,
  EMIT_ON,
  type EmitOn,
  type EscalationRule,
  type McpServer,
  PERMISSION_MODES,
  type PermissionMode,
  type Subagent,
} from '#model/agent/agent.ts'
import type { AgentOptions, AgentSource, McpServerSource, SubagentSource } from '#model/agent/source.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import { isFieldName, parseOrder, parseWhere } from '#model/kernel/row-filter.ts'
import { checkName, invalid } from './invalid.ts'

const KIND = Symbol.for('trihand.kind')
const DEFAULT_ROWS = 100
const MICROS = 1_000_000
const OPERATORS = 'operators'
const TOOL_NAME = /^[A-Za-z][A-Za-z0-9_./:*-]{0,127}$/

/**
 * Declares an agent: a language model with tools that does a step or a whole run.
 *
 * ```ts
 * agent('triager', { trigger: 'ticket.opened', instructions: 'Rate the urgency.', outputSchema: Urgency, allowedTools: ['FindCustomer'] })
 * ```
 */
export const agent = (name: string, options: AgentOptions = {}): AgentSource => {
  const source = { name, options }
  Object.defineProperty(source, KIND, { value: 'agent' })
  return source
}

const oneOf = <T extends string>(value: T | undefined, words: readonly [T, ...T[]], path: string): T => {
  if (value === undefined) return words[0]
  if (!words.includes(value)) throw invalid(path, `"${value}" is not one of ${words.join(', ')}`)
  return value
}

const whole = (value: number | undefined, fallback: number, least: number, path: string): number => {
  if (value === undefined) return fallback
  if (!Number.isInteger(value) || value < least) throw invalid(path, `expected a whole number from ${least}`)
  return value
}

const costOf = (usd: number | undefined, path: string): number | null => {
  if (usd === undefined) return null
  if (!Number.isFinite(usd) || usd < 0) throw invalid(path, 'expected dollars, like 0.5')
  return Math.floor(usd * MICROS)
}

const limitsOf = (limits: AgentOptions['limits'] = {}, path: string): AgentLimits => ({
  maxTokens: whole(limits.maxTokens, 50_000, 1, `${path}.maxTokens`),
  maxOutputTokens: whole(limits.maxOutputTokens, 4_096, 1, `${path}.maxOutputTokens`),
  maxToolCalls: whole(limits.maxToolCalls, 50, 0, `${path}.maxToolCalls`),
  timeoutMs: durationMs(limits.timeout ?? '300s'),
  maxRetries: whole(limits.maxRetries, 3, 0, `${path}.maxRetries`),
  maxTurns: whole(limits.maxTurns, 50, 1, `${path}.maxTurns`),
  maxCost: costOf(limits.maxCostUsd, `${path}.maxCostUsd`),
  maxDepth: whole(limits.maxDepth, 4, 0, `${path}.maxDepth`),
})

const toolsOf = (tools: readonly string[] = [], path: string): readonly string[] => {
  for (const name of tools) if (!TOOL_NAME.test(name)) throw invalid(path, `"${name}" is not the name of a tool`)
  return [...new Set(tools)]
}

const emitsOf = (emits: AgentOptions['emits'] = [], path: string): readonly AgentEmit[] =>
  emits.map((entry) => {
    const given = typeof entry === 'string' ? { event: entry } : entry
    if (given.when != null) compileRule(given.when, EMIT_ROOTS)
    return {
      event: given.event,
      when: given.when ?? null,
      on: oneOf<EmitOn>(given.on, EMIT_ON, `${path}.on`),
      data: given.data ?? null,
    }
  })

const asksOf = ({ users = [], groups = [] }: NonNullable<AgentOptions['asks']> = {}): AgentSpec['asks'] => ({
  users,
  groups: users.length + groups.length === 0 ? [OPERATORS] : groups,
})

const serverOf = (server: McpServerSource, path: string): McpServer => {
  if ((server.url === undefined) === (server.command === undefined))
    throw invalid(`${path}.${server.name}`, 'a server needs either a url or a command')
  return {
    name: server.name,
    url: server.url ?? null,
    command: server.command ?? null,
    args: server.args ?? [],
    env: server.env ?? {},
    tools: server.tools ?? null,
    trusted: server.trusted ?? false,
  }
}

/** Parsed already here, so that an invalid condition is refused when the system is defined. */
const whereOf = (where: string | null | undefined): string | null => {
  if (where != null && !isFieldName(where)) parseWhere(where)
  return where ?? null
}

const orderOf = (order: string | null | undefined): string | null => {
  if (order != null) parseOrder(order)
  return order ?? null
}

const contextOf = (given: AgentOptions['contextIn'] = {}, path: string): AgentSpec['context'] => ({
  rows: (given.fromDb ?? []).map((rows) => ({
    table: rows.table,
    as: rows.as,
    template: rows.template ?? null,
    mustHave: rows.mustHave ?? [],
    where: whereOf(rows.where),
    orderBy: orderOf(rows.orderBy),
    limit: whole(rows.limit, DEFAULT_ROWS, 1, `${path}.limit`),
    untrusted: rows.untrusted ?? false,
  })),
  files: (given.static ?? []).map((file) => {
    const { source = null, text = null, dest, untrusted = false } = file
    if ((source === null) === (text === null)) throw invalid(`${path}.static`, `${dest} needs either source or text`)
    return { source, text, dest, untrusted }
  }),
})

const artifactOf = (given: NonNullable<AgentOptions['artifacts']>[number]): ArtifactSpec => {
  const artifact = typeof given === 'string' ? { file: given } : given
  return { file: artifact.file, required: artifact.required ?? true, persistTo: artifact.persistTo ?? 'blob' }
}

const ruleOf = (rule: Partial<EscalationRule> & { readonly condition: string }): EscalationRule => {
  compileRule(rule.condition, ['agent', 'output', 'payload'])
  return {
    condition: rule.condition,
    escalateTo: rule.escalateTo ?? 'human',
    reason: rule.reason ?? `${rule.condition} holds`,
  }
}

/** The name of the handler that an inner agent becomes. */
const subagentName = (parent: string, name: string): string => `${parent}--${name}`

const subagentOf = (parent: string, given: string | SubagentSource): Subagent =>
  typeof given === 'string'
    ? { name: given, description: '', handler: given }
    : { name: given.name, description: given.description ?? '', handler: subagentName(parent, given.name) }

const promptOf = (name: string, given: string | undefined): readonly string[] =>
  given === undefined ? [`agents/${name}/CLAUDE.md`, `agents/${name}.md`] : [given]

const checkModels = (options: AgentOptions, path: string): void => {
  const { allowedModels = [], fallbackModels = [], model } = options
  if (allowedModels.length === 0) return
  const outside = [...(model === undefined ? [] : [model]), ...fallbackModels].find((id) => !allowedModels.includes(id))
  if (outside !== undefined)
    throw new TrihandError('MODEL_NOT_ALLOWED', `${path}: ${outside} is not in allowedModels`, { place: { path } })
}

const backendOf = (name: string | undefined, path: string): string | null => {
  if (name === undefined) return null
  checkName(name, path)
  return name
}

const defineAgent = ({ name, options }: AgentSource): AgentSpec => {
  const path = `agents.${name}`
  checkName(name, path)
  checkModels(options, path)
  return {
    name,
    description: options.description ?? '',
    instructions: options.instructions ?? null,
    prompt: promptOf(name, options.prompt),
    model: options.model ?? null,
    fallbackModels: options.fallbackModels ?? [],
    allowedModels: options.allowedModels ?? [],
    temperature: options.temperature ?? null,
    backend: backendOf(options.backend, `${path}.backend`),
    allowedTools: toolsOf(options.allowedTools, `${path}.allowedTools`),
    permissionMode: oneOf<PermissionMode>(options.permissionMode, PERMISSION_MODES, `${path}.permissionMode`),
    taint: oneOf(options.taint, ['ask', 'allow'], `${path}.taint`),
    subagents: (options.subagents ?? []).map((given) => subagentOf(name, given)),
    handoffs: options.handoffs ?? [],
    mcpServers: (options.mcpServers ?? []).map((server) => serverOf(server, `${path}.mcpServers`)),
    context: contextOf(options.contextIn, `${path}.contextIn`),
    artifacts: (options.artifacts ?? []).map(artifactOf),
    output: options.outputSchema === undefined ? null : jsonSchemaOf(options.outputSchema, `${path}.outputSchema`),
    confidenceScale: options.confidenceScale ?? 1,
    escalationRules: (options.escalationRules ?? []).map(ruleOf),
    asks: asksOf(options.asks),
    emits: emitsOf(options.emits, `${path}.emits`),
    limits: limitsOf(options.limits, `${path}.limits`),
    workspace: {
      cleanup: oneOf<Cleanup>(options.workspace?.cleanup, CLEANUPS, `${path}.workspace.cleanup`),
      snapshotOnFailure: options.workspace?.snapshotOnFailure ?? true,
    },
  }
}

/** The agents written inside this one, as agents of their own: same models, no more tools than their parent. */
export const innerAgents = ({ name, options }: AgentSource): readonly AgentSource[] =>
  (options.subagents ?? []).flatMap((given) => {
    if (typeof given === 'string') return []
    const allowed = options.allowedTools ?? []
    const tools = (given.tools ?? allowed).filter((tool) => allowed.includes(tool))
    const { model = options.model, instructions, prompt, description, outputSchema } = given
    return agent(subagentName(name, given.name), {
      ...(model === undefined ? {} : { model }),
      ...(instructions === undefined ? {} : { instructions }),
      ...(prompt === undefined ? {} : { prompt }),
      ...(description === undefined ? {} : { description }),
      ...(outputSchema === undefined ? {} : { outputSchema }),
      ...(options.module === undefined ? {} : { module: options.module }),
      ...(options.limits === undefined ? {} : { limits: options.limits }),
      ...(options.fallbackModels === undefined ? {} : { fallbackModels: options.fallbackModels }),
      ...(options.allowedModels === undefined ? {} : { allowedModels: options.allowedModels }),
      allowedTools: tools,
    })
  })

/** An agent as a handler: triggers and flow control work as for a function; its code is its definition. */
export const agentHandler = (source: AgentSource) => {
  const { trigger, triggers, input, deadline, allowReentry, circuit, pool, module, placement, ...rest } = source.options
  const { idempotency, whilePaused, rateLimit, debounce, batch, overlap, overlapKey, throttle } = rest
  const { concurrency, priority, fairness, cancelOn, internal, pin, pinFor } = rest
  const { entity, entityKey, stateIn, stateOut } = rest
  const moves = { entity, entityKey, stateIn, stateOut }
  const given = { trigger, triggers, input, deadline, allowReentry, circuit, pool, pin, pinFor, module, placement }
  const flow = { idempotency, whilePaused, rateLimit, debounce, batch, overlap, overlapKey, throttle }
  const options = Object.entries({
    ...given,
    ...flow,
    ...moves,
    concurrency,
    priority,
    fairness,
    cancelOn,
    internal,
  }).filter(([, value]) => value !== undefined)
  return {
    name: source.name,
    // A failed agent is not started again automatically: retries happened inside it.
    options: { ...(Object.fromEntries(options) as Omit<Partial<AgentOptions>, 'emits'>), retry: { maxAttempts: 1 } },
    code: defineAgent(source),
    modality: 'agent',
  } as const
}

/** The part of an agent that the hash of a system covers. */
export const agentShape = (source: AgentSource): Json => JSON.parse(JSON.stringify(defineAgent(source))) as Json
