/**
 * Values of a definition that are only known in a run: `{{ }}` in texts, and `{expr: "<CEL>"}` anywhere.
 *
 * Owns which is which. An expression that fails is an error with its code, never an empty value.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import { compileRule } from './rules.ts'
import { compileTemplate, type Template } from './template.ts'

const expressionOf = (given: Json): string | null => {
  if (given === null || typeof given !== 'object' || Array.isArray(given)) return null
  const members = Object.entries(given as { readonly [key: string]: Json })
  const [only] = members
  return members.length === 1 && only?.[0] === 'expr' && typeof only[1] === 'string' ? only[1] : null
}

const compileExpression = (text: string, roots: readonly string[]): Template => {
  const rule = compileRule(text, roots)
  return (values) => {
    const answer = rule(values)
    if (answer.kind === 'value') return answer.value
    throw new TrihandError('EXPR_FAILED', `"${text}": ${answer.detail}`)
  }
}

export const compileValue = (given: Json, roots: readonly string[]): Template => {
  const expression = expressionOf(given)
  if (expression !== null) return compileExpression(expression, roots)
  if (given === null || typeof given !== 'object') return compileTemplate(given, roots)
  if (Array.isArray(given)) {
    const items = given.map((item) => compileValue(item, roots))
    return (values) => items.map((item) => item(values))
  }
  const members = Object.entries(given).map(([key, value]) => [key, compileValue(value, roots)] as const)
  return (values) => Object.fromEntries(members.map(([key, value]) => [key, value(values)]))
}
