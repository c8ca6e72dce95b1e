/**
 * Manual edits by people: whether the result fits its schema, and how it differs from the original.
 *
 * Owns both results as values. Never decides what follows from them (model/task/submit.ts). The code that makes patches is loaded with the first
 * edit, because most processes see none.
 */
import { createRequire } from 'node:module'
import { jsonSchema } from '#manifest/schema/ajv-schema.ts'
import type { Json } from '#model/kernel/json.ts'

const patches = (): typeof import('rfc6902') => createRequire(import.meta.url)('rfc6902')

/** The RFC 6902 patch from one value to another. */
export const diff = (before: Json, after: Json): Json => patches().createPatch(before, after) as unknown as Json

/** Null: it fits. If the schema cannot be read, no value fits. */
export const misfit = (schema: Json, value: Json): string | null => {
  try {
    const answer = jsonSchema(schema)['~standard'].validate(value)
    if (answer instanceof Promise) return 'the schema must validate synchronously'
    if (answer.issues === undefined) return null
    return answer.issues.map(({ path = [], message }) => `/${path.join('/')} ${message}`).join('; ')
  } catch (error) {
    return `the schema cannot be read: ${error instanceof Error ? error.message : String(error)}`
  }
}
