/**
 * A model's answer against the schema that it was asked for.
 *
 * Owns how text becomes data. The check itself is handed in; asking again is the turn's business.
 */
import { jsonIn } from '#model/agent/answer-json.ts'
import type { OutputCheck } from '#model/agent/state.ts'
import type { Json } from '#model/kernel/json.ts'

const MAX_ISSUES = 20
const MAX_FOUND = 80

export const checkAnswer = (
  schema: Json,
  text: string,
  check: (schema: Json, value: Json) => readonly string[],
): OutputCheck => {
  const parsed = jsonIn(text)
  if (parsed === null) {
    const found = JSON.stringify(text.trim().slice(0, MAX_FOUND))
    return { ok: false, issues: [`/: expected JSON, alone or once in the answer, found ${found}`] }
  }
  const issues = check(schema, parsed.value)
  return issues.length === 0 ? { ok: true, value: parsed.value } : { ok: false, issues: issues.slice(0, MAX_ISSUES) }
}
