/**
 * A user's schema as JSON Schema 2020-12: what a model is told, what a page shows, what a hash covers.
 *
 * Owns the export. A schema whose library cannot write it is refused here, when the system is defined.
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
    throw new TrihandError('SCHEMA_NOT_EXPORTABLE', `${path}: ${standard.vendor} cannot write it as JSON Schema`, {
      place: { path },
    })
  return JSON.parse(JSON.stringify(standard.jsonSchema.input({ target: TARGET }))) as Json
}

/** Where a schema counts by what it says, if its library can say it. */
export const jsonSchemaOrNull = (given: unknown): Json => {
  if (!isSchema(given)) return null
  try {
    return jsonSchemaOf(given, '')
  } catch {
    return null
  }
}
