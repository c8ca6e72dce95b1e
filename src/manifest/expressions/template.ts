/**
 * Templates: any JSON whose texts may contain `{{ expression }}`, compiled once and filled in with named roots.
 *
 * Owns the filling. A text that is one expression keeps the type of its value; inside a longer text a list or an object is written
 * as JSON and null as nothing. A missing field is an error, never an empty text.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Rule } from '#model/kernel/rule.ts'
import { compileRule } from './rules.ts'

export type Template = (roots: { readonly [root: string]: Json }) => Json

const EXPRESSION = /\{\{(.*?)\}\}/gs

const ask = (rule: Rule, text: string, roots: { readonly [root: string]: Json }): Json => {
  const answer = rule(roots)
  if (answer.kind === 'value') return answer.value
  throw new TrihandError('TEMPLATE_ERROR', `{{${text}}}: ${answer.detail}`)
}

const written = (value: Json): string => {
  if (value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

const compileText = (text: string, roots: readonly string[]): Template => {
  const parts = [...text.matchAll(EXPRESSION)].map(({ index, 0: whole, 1: inner = '' }) => ({
    from: index,
    to: index + whole.length,
    inner,
    rule: compileRule(inner.trim(), roots),
  }))
  const [only] = parts
  if (only === undefined) return () => text
  if (only.from === 0 && only.to === text.length) return (values) => ask(only.rule, only.inner, values)
  return (values) => {
    let filled = ''
    let at = 0
    for (const { from, to, inner, rule } of parts) {
      filled += text.slice(at, from) + written(ask(rule, inner, values))
      at = to
    }
    return filled + text.slice(at)
  }
}

export const compileTemplate = (given: Json, roots: readonly string[]): Template => {
  if (typeof given === 'string') return compileText(given, roots)
  if (given === null || typeof given !== 'object') return () => given
  if (Array.isArray(given)) {
    const items = given.map((item) => compileTemplate(item, roots))
    return (values) => items.map((item) => item(values))
  }
  const members = Object.entries(given).map(([key, value]) => [key, compileTemplate(value, roots)] as const)
  return (values) => Object.fromEntries(members.map(([key, value]) => [key, value(values)]))
}
