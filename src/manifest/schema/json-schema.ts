/**
 * A user's schema as JSON Schema 2020-12: for models, for pages and for hashes.
 *
 * Owns the export. A schema whose library cannot export it is refused here, when the system is defined.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import { type Json, toJson } from '#model/kernel/json.ts'
import { isSchema } from './schema.ts'

interface Exporting {
  readonly jsonSchema?: { input?(options: { readonly target: string }): unknown }
}

const TARGET = 'draft-2020-12'

export const jsonSchemaOf = (given: unknown, path: string): Json => {
  if (!isSchema(given)) {
    if (given !== null && typeof given === 'object' && !Array.isArray(given)) return toJson(given)
    throw new TrihandError('MANIFEST_INVALID', `${path}: expected a schema`, { place: { path } })
  }
  const standard = given['~standard'] as (typeof given)['~standard'] & Exporting
  if (typeof standard.jsonSchema?.input !== 'function')
    throw new TrihandError('SCHEMA_NOT_EXPORTABLE', `${path}: ${standard.vendor} cannot export it as JSON Schema`, {
      place: { path },
    })
  return JSON.parse(JSON.stringify(standard.jsonSchema.input({ target: TARGET }))) as Json
}

/** For uses where a schema matters by its content, if its library can export it. */
export const jsonSchemaOrNull = (given: unknown): Json => {
  if (!isSchema(given)) return null
  try {
    return jsonSchemaOf(given, '')
  } catch {
    return null
  }
}
