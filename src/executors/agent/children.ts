/**
 * Other agents that work for this one: children with a part of its budget, and the agent to which it hands off its work.
 *
 * Owns what a child is given and what comes back. A child's scope is its own, cut to its parent's; what it read taints its parent.
 *
 * children-1  An agent that works for another, as its child or in its place, has no more tools, tokens or money than that one, and its taint.
 */
import type { AgentSpec } from '#model/agent/agent.ts'
import { type AgentCall, type AgentState, committed, type ToolOutcome } from '#model/agent/state.ts'
import { type End, repliesOf } from '#model/agent/turn.ts'
import { type Allowance, carve, restOf, type Spent } from '#model/flow/policies/budget.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import { TASK } from './control-tools.ts'
import { type ChildCall, childInput, givenInput, type Scope } from './scope.ts'
import { failedOutcome, NO_OUTCOME } from './tool-call.ts'

/** What a child that was called with a scope returns: its output, and what its parent must know about it. */
export interface ChildAnswer {
  readonly output: Json
  readonly status: 'success' | 'partial'
  readonly spent: Spent
  readonly tainted: boolean
  readonly simulated: boolean
}

interface TaskInput {
  readonly agent: string
  readonly prompt: string
  readonly budget?: { readonly tokens?: number; readonly usd?: number }
}

/** What an agent passes to the agent that takes over. */
interface Handoff {
  readonly state: AgentState
  readonly call: AgentCall
  readonly allowance: Allowance
  /** The input of the agent that hands off. */
  readonly input: Json
}

const MICROS = 1_000_000

/** The handler behind a name in the agent's own list. The schema of the tool has refused every other name. */
export const handlerOf = (spec: AgentSpec, { input }: AgentCall): string => {
  const { agent } = input as unknown as TaskInput
  const found = spec.subagents.find(({ name }) => name === agent)
  if (found === undefined) throw new TrihandError('SCOPE_WIDER', `${agent} is not an agent of ${spec.name}`)
  return found.handler
}

/** What this child gets: what was requested, or its share of the rest. Its parent keeps a share too, to process its answer. */
export const allowanceFor = (scope: Scope, state: AgentState, { input }: AgentCall, sharers: number): Allowance => {
  const { budget = {} } = input as unknown as TaskInput
  const asked: { tokens?: number; micros?: number } = {}
  if (budget.tokens !== undefined) asked.tokens = budget.tokens
  if (budget.usd !== undefined) asked.micros = Math.floor(budget.usd * MICROS)
  return carve(restOf(scope.allowance, committed(state)), asked, sharers + 1)
}

/** Null: another level is allowed. */
export const tooDeep = ({ name, limits }: AgentSpec, { depth }: Scope): ToolOutcome | null =>
  depth < limits.maxDepth
    ? null
    : failedOutcome('CHILD_DEPTH', `${name} would be ${depth} levels deep; at most ${limits.maxDepth} are allowed`)

export const inputFor = (scope: Scope, state: AgentState, call: AgentCall, allowance: Allowance): Json => {
  const child: ChildCall = {
    prompt: (call.input as unknown as TaskInput).prompt,
    tools: scope.tools,
    models: scope.allowedModels,
    allowance,
    depth: scope.depth + 1,
    tainted: state.isTainted,
  }
  return childInput(child)
}

/** All that is left, because an agent that hands off has no more work. */
export const restFor = (scope: Scope, state: AgentState): Allowance => restOf(scope.allowance, committed(state))

/** children-1: as for a child, plus the input of the agent itself. */
export const handoffInput = ({ name }: AgentSpec, scope: Scope, { state, call, allowance, input }: Handoff): Json => {
  const { prompt } = call.input as unknown as TaskInput
  const child: ChildCall = {
    prompt,
    tools: scope.tools,
    models: scope.child?.models ?? null,
    allowance,
    depth: scope.depth + 1,
    tainted: state.isTainted,
    isHandoff: true,
  }
  return childInput(child, { prompt, input: givenInput(input), from: name })
}

const isAnswer = (value: Json): boolean => value !== null && typeof value === 'object' && 'spent' in value

/** A handler that is not an agent returns its plain output, and has used nothing. */
export const childOutcome = (value: Json): ToolOutcome => {
  if (!isAnswer(value)) return { ...NO_OUTCOME, output: value, untrusted: true }
  const { output, spent, tainted } = value as unknown as ChildAnswer
  return { ...NO_OUTCOME, output, spent, untrusted: tainted }
}

/** The work of the agent that handed off ends as it ended for the other one. */
export const handoffEnd = (value: Json): End => {
  const { output, status } = isAnswer(value)
    ? (value as unknown as ChildAnswer)
    : ({ output: value, status: 'success' } as const)
  return { kind: 'end', status, code: null, detail: null, output }
}

/** What was reserved for this call, and what counts as used if the real use is not known. */
export const carvedFor = (
  scope: Scope,
  state: AgentState,
  { key }: AgentCall,
): Allowance & { readonly spent: Spent } => {
  const carved = state.pending.get(key) ?? { tokens: 0, micros: 0 }
  const micros = scope.allowance.micros === null && carved.micros === 0 ? null : carved.micros
  return { tokens: carved.tokens, micros, spent: { ...carved, isEstimated: true } }
}

/** The number of children of the last reply that have not begun. */
export const waitingChildren = ({ outcomes, pending, ...state }: AgentState): number => {
  const calls = repliesOf({ outcomes, pending, ...state }).at(-1)?.calls ?? []
  return calls.filter(({ tool, key }) => tool === TASK && !outcomes.has(key) && !pending.has(key)).length
}
