/**
 * Checks data against a user's schema, through the one interface that all schema libraries share.
 *
 * Owns the wording of issues. Never changes the data: what was sent is what is stored.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type ErrorCode, TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'

export type Schema = StandardSchemaV1<unknown, unknown>

export const isSchema = (value: unknown): value is Schema =>
  value !== null && (typeof value === 'object' || typeof value === 'function') && '~standard' in value

const pointer = (issue: StandardSchemaV1.Issue): string => {
  const parts = issue.path?.map((part) => (typeof part === 'object' ? part.key : part)) ?? []
  return parts.length === 0 ? '/' : `/${parts.map(String).join('/')}`
}

const MAX_ISSUES = 5

const describeIssues = (issues: readonly StandardSchemaV1.Issue[]): string => {
  const shown = issues.slice(0, MAX_ISSUES).map((issue) => `${pointer(issue)}: ${issue.message}`)
  const rest = issues.length - shown.length
  return shown.join('; ') + (rest > 0 ? `; and ${rest} more` : '')
}

export const checkAgainst = async (schema: Schema, value: Json, code: ErrorCode, subject: string): Promise<void> => {
  const result = await schema['~standard'].validate(value)
  if (result.issues !== undefined)
    throw new TrihandError(code, `${subject} does not match its schema: ${describeIssues(result.issues)}`)
}
