/**
 * Evaluates a rule of flow control to the text or number that is needed.
 *
 * Owns what counts as a key. A rule that fails, or gives another type, throws RuleFailed: the caller decides what follows.
 */
import type { Json } from '#model/kernel/json.ts'
import type { Rule } from '#model/kernel/rule.ts'

export class RuleFailed extends Error {}

export type Roots = Parameters<Rule>[0]

export const answerOf = (rule: Rule, roots: Roots, what: string): Json => {
  const answer = rule(roots)
  if (answer.kind === 'error') throw new RuleFailed(`${what}: ${answer.detail}`)
  return answer.value
}

/** A null value is a failure, never a key that many runs share. */
export const keyOf = (rule: Rule | null, roots: Roots, what: string): string => {
  if (rule === null) return ''
  const value = answerOf(rule, roots, what)
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value)
  throw new RuleFailed(`${what}: gives ${JSON.stringify(value)}, not a text, a number or a boolean`)
}

export const numberOf = (rule: Rule | null, roots: Roots, what: string, otherwise: number): number => {
  if (rule === null) return otherwise
  const value = answerOf(rule, roots, what)
  if (typeof value === 'number' && Number.isFinite(value)) return value
  throw new RuleFailed(`${what}: gives ${JSON.stringify(value)}, not a number`)
}

/** A priority that cannot be evaluated counts as 0. */
export const priorityOf = (rule: Rule | null, roots: Roots): number => {
  try {
    return numberOf(rule, roots, 'priority', 0)
  } catch {
    return 0
  }
}
