/**
 * What an agent may use: its own definition, cut to what its module lists and what its parent gave it.
 *
 * Owns the intersection. A scope can only narrow, so writing one into an input gains nothing.
 */
import { type Module, mayUse } from '#model/access/module.ts'
import type { AgentSpec } from '#model/agent/agent.ts'
import type { Allowance } from '#model/flow/policies/budget.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'

/** What a parent passes to its child, inside the child's input. */
export interface ChildCall {
  readonly prompt: string
  readonly tools: readonly string[]
  /** Null: any model of its own. Only for an agent that takes over work: it may have its own model, as far as its parent's parent allows. */
  readonly models: readonly string[] | null
  readonly allowance: Allowance
  readonly depth: number
  /** The parent had read untrusted input. */
  readonly tainted: boolean
  /** The work was handed off to it: the rest of its input, beside this call, is its task. */
  readonly isHandoff?: true
}

export interface Scope {
  readonly tools: readonly string[]
  /** In the order in which they are tried. */
  readonly models: readonly string[]
  readonly allowedModels: readonly string[]
  readonly allowance: Allowance
  readonly depth: number
  readonly child: ChildCall | null
}

const MARK = 'trihand_child'

export const childInput = (call: ChildCall, more: { readonly [name: string]: Json } = {}): Json => ({
  ...more,
  [MARK]: call as unknown as Json,
})

/** The input that an agent works on, without the scope from its parent. */
export const givenInput = (input: Json): Json => {
  const child = childCallOf(input)
  if (child === null || !isJsonRecord(input)) return input
  const { [MARK]: _, ...rest } = input
  return child.isHandoff === true ? rest : child.prompt
}

const strings = (value: unknown): readonly string[] | null =>
  Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : null

const count = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null

/** The scope from a parent; null: there is no parent, or we did not write it. */
export const childCallOf = (input: Json): ChildCall | null => {
  const given = (input as { readonly [MARK]?: Partial<ChildCall> } | null)?.[MARK]
  if (given === null || typeof given !== 'object') return null
  const { prompt, allowance } = given
  const [tools, depth] = [strings(given.tools), count(given.depth)]
  const isHandoff = given.isHandoff === true
  const models = isHandoff && given.models === null ? null : (strings(given.models) ?? undefined)
  const tokens = count(allowance?.tokens)
  if (typeof prompt !== 'string' || tools === null || models === undefined || depth === null || tokens === null)
    return null
  const micros = allowance?.micros == null ? null : count(allowance.micros)
  const call = { prompt, tools, models, depth, allowance: { tokens, micros }, tainted: given.tainted !== false }
  return isHandoff ? { ...call, isHandoff } : call
}

const less = (own: number | null, given: number | null): number | null => {
  if (own === null) return given
  return given === null ? own : Math.min(own, given)
}

export const scopeOf = (spec: AgentSpec, input: Json, defaultModel: string, module: Module | null): Scope => {
  const child = childCallOf(input)
  const { maxTokens, maxCost } = spec.limits
  const models = [spec.model ?? defaultModel, ...spec.fallbackModels]
  const allowedModels = spec.allowedModels.length > 0 ? spec.allowedModels : models
  const tools = spec.allowedTools.filter((tool) => mayUse(module, tool))
  const own = { tools, models, allowedModels, allowance: { tokens: maxTokens, micros: maxCost } }
  if (child === null) return { ...own, depth: 0, child }
  const within = (list: readonly string[], of: readonly string[] | null): readonly string[] =>
    of === null ? list : list.filter((name) => of.includes(name))
  return {
    tools: within(own.tools, child.tools),
    models: within(own.models, child.models),
    allowedModels: within(own.allowedModels, child.models),
    allowance: {
      tokens: Math.min(own.allowance.tokens, child.allowance.tokens),
      micros: less(own.allowance.micros, child.allowance.micros),
    },
    depth: child.depth,
    child,
  }
}
