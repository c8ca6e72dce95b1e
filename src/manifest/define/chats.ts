/**
 * Brings chats from what an author writes to the normal form.
 *
 * Owns their spelling, their defaults and every refusal at definition time, and what counts as having effects. Never calls a model.
 */
import { oneOf } from '#manifest/expressions/ranges.ts'
import { readSteps } from '#manifest/plan/reading.ts'
import type { AgentSpec } from '#model/agent/agent.ts'
import type { AgentSource } from '#model/agent/source.ts'
import {
  type ChatExecutor,
  type ChatPlan,
  type ChatSpec,
  DECISION_SCHEMA,
  TURN_POLICIES,
  type TurnPolicy,
} from '#model/chat/chat.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { nearest } from '#model/kernel/nearest.ts'
import type { HandlerFacts } from '#model/plan/shown.ts'
import { checkName, invalid } from './invalid.ts'
import type { FunctionDefinition, System } from './system.ts'

const APPROVALS = ['auto', 'always', 'never'] as const

interface ChatExecutorSource {
  readonly name: string
  readonly description?: string
  /** `auto` (default): approval is needed if it may have effects. */
  readonly approval?: (typeof APPROVALS)[number]
}

export interface ChatSource {
  readonly name: string
  readonly description?: string
  /** The agent that decides what to do with a message. Its answer has the shape of a decision, unless it declares another. */
  readonly agent: string
  /** What it may execute: functions, agents and humans of the system, or executor types. */
  readonly executors?: readonly (string | ChatExecutorSource)[]
  /** What happens to a message that arrives during a turn. Default: it waits. */
  readonly onMessageWhileRunning?: TurnPolicy
  /** The people who approve. Default: the group operators. */
  readonly asks?: { readonly users?: readonly string[]; readonly groups?: readonly string[] }
}

/** Built-in types that only read and write text. */
const HARMLESS: ReadonlySet<string> = new Set(['llm', 'template_engine', 'document_processor', 'classifier'])
const TYPES: readonly string[] = [...HARMLESS, 'tool_call']
const OPERATORS = 'operators'
/** The name that allows plans written by the agent: drafted, approved by their hash, and run. */
const PLAN = 'plan'

/** Fails closed: everything has effects that is not known to have none. */
const hasEffects = ({ modality, code, workflow }: FunctionDefinition): boolean => {
  if (modality === 'agent') {
    const { allowedTools, subagents, mcpServers, emits, handoffs } = code as AgentSpec
    return [allowedTools, subagents, mcpServers, emits, handoffs].some(({ length }) => length > 0)
  }
  const { operations } = workflow
  return modality === 'human' || operations === null || [...operations].some((operation) => operation !== 'transform')
}

interface Known extends Pick<System, 'functions' | 'executors'> {
  /** The handlers that may do a step of a plan. */
  readonly handlers: ReadonlyMap<string, HandlerFacts>
  digest(text: string): string
}

const planWords = (known: Known): string => {
  const names = [...known.handlers.keys()].map((name) => name.replaceAll(/[-_]+/g, ' '))
  return `several steps that wait for each other; task: {"goal": text, "text": a line for each step such as "c. Send emails (requires steps a and b)", "input": what it works on}; the words of a line are one of: ${names.join(', ')}`
}

/** A plan drafted by the agent, which no person has seen before. */
const draftedPlan = (
  path: string,
  { description, approval = 'auto' }: Partial<ChatExecutorSource>,
  known: Known,
): ChatExecutor => {
  if (approval === 'never')
    throw invalid(`${path}.approval`, 'a person must always approve a plan that is drafted in a chat')
  return { name: PLAN, description: description ?? planWords(known), kind: 'plan', needsApproval: true }
}

const declaredPlan = ({ workflow, name }: FunctionDefinition, known: Known): ChatPlan | null => {
  if (workflow.plan === null) return null
  const { goal, written } = workflow.plan
  const {
    hash,
    lines: steps,
    goalBy,
    problems,
  } = readSteps(goal, { steps: written, problems: [] }, { ...known, namedBy: () => 'person' })
  return { id: null, goal: goal === '' ? name : goal, goalBy, hash, steps, problems }
}

const executorOf = (given: string | ChatExecutorSource, path: string, known: Known): ChatExecutor => {
  const { functions, executors } = known
  const { name, description = '', approval = 'auto' } = typeof given === 'string' ? { name: given } : given
  const handler = functions.get(name)
  if (handler === undefined && name === PLAN)
    return draftedPlan(`${path}.${PLAN}`, typeof given === 'string' ? {} : given, known)
  if (handler === undefined && !TYPES.includes(name) && !executors.has(name)) {
    const near = nearest(name, [...functions.keys(), ...TYPES, PLAN, ...executors.keys()])
    throw invalid(
      `${path}.${name}`,
      `this system has no such handler or executor${near === null ? '' : `; did you mean ${near}?`}`,
    )
  }
  const word = oneOf(`${path}.${name}.approval`, approval, APPROVALS)
  const plan = handler === undefined ? null : declaredPlan(handler, known)
  const mayHave = handler === undefined ? !HARMLESS.has(name) : hasEffects(handler)
  return {
    name,
    description,
    kind: handler === undefined ? 'type' : 'handler',
    needsApproval: word === 'auto' ? mayHave : word === 'always',
    ...(plan === null ? {} : { plan }),
  }
}

const chatOf = (source: ChatSource, known: Known): ChatSpec => {
  const { name, agent, asks = {} } = source
  const path = `chats.${name}`
  checkName(name, path)
  if (known.functions.get(agent)?.modality !== 'agent') throw invalid(`${path}.agent`, `there is no agent ${agent}`)
  const { users = [], groups = [] } = asks
  return {
    name,
    description: source.description ?? '',
    agent,
    executors: (source.executors ?? []).map((given) => executorOf(given, `${path}.executors`, known)),
    whileRunning: oneOf(`${path}.onMessageWhileRunning`, source.onMessageWhileRunning ?? 'enqueue', TURN_POLICIES),
    asks: { users, groups: users.length + groups.length === 0 ? [OPERATORS] : groups },
  }
}

export const defineChats = (sources: readonly ChatSource[], known: Known): ReadonlyMap<string, ChatSpec> => {
  const chats = new Map<string, ChatSpec>()
  for (const source of sources) {
    if (chats.has(source.name)) throw new TrihandError('MANIFEST_DUPLICATE_NAME', `two chats are named ${source.name}`)
    chats.set(source.name, chatOf(source, known))
  }
  return chats
}

/** Agents that decide for a chat return a decision. */
export const asDeciders = (agents: readonly AgentSource[], chats: readonly ChatSource[]): readonly AgentSource[] => {
  const deciders = new Set(chats.map(({ agent }) => agent))
  return agents.map((source) =>
    deciders.has(source.name) && source.options.outputSchema === undefined
      ? { ...source, options: { ...source.options, outputSchema: DECISION_SCHEMA } }
      : source,
  )
}
