/**
 * A model's answer against the schema that it was asked for.
 *
 * Owns how text becomes data. The check itself is handed in; asking again is the turn's business.
 */
import type { OutputCheck } from '../../model/agent-state.ts'
import { type Json, toJson } from '../../model/json.ts'

const FENCE = '```'
const MAX_ISSUES = 20
const MAX_FOUND = 80

/** A fence around the whole answer is no part of it. */
const unfenced = (text: string): string => {
  const trimmed = text.trim()
  if (!trimmed.startsWith(FENCE) || !trimmed.endsWith(FENCE) || trimmed.length < 2 * FENCE.length) return trimmed
  const body = trimmed.slice(FENCE.length, -FENCE.length)
  const lineEnd = body.indexOf('\n')
  return (lineEnd < 0 ? body : body.slice(lineEnd + 1)).trim()
}

const parse = (text: string): { readonly value: Json } | { readonly issue: string } => {
  try {
    return { value: toJson(JSON.parse(unfenced(text))) }
  } catch {
    const found = text.trim().slice(0, MAX_FOUND)
    return { issue: `/: expected JSON, found ${JSON.stringify(found)}` }
  }
}

export const checkAnswer = (
  schema: Json,
  text: string,
  check: (schema: Json, value: Json) => readonly string[],
): OutputCheck => {
  const parsed = parse(text)
  if ('issue' in parsed) return { ok: false, issues: [parsed.issue] }
  const issues = check(schema, parsed.value)
  return issues.length === 0 ? { ok: true, value: parsed.value } : { ok: false, issues: issues.slice(0, MAX_ISSUES) }
}
