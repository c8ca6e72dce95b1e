/**
 * Checks whether a value fits a JSON Schema. For schemas that come as data: of tools, of answers.
 *
 * Owns the cache of compiled schemas and the wording of an issue. The check itself is ajv's (ajv-schema.ts).
 */
import { canonical, type Json } from '#model/kernel/json.ts'
import { jsonSchema } from './ajv-schema.ts'

interface Checked {
  readonly issues?: readonly { readonly message: string; readonly path?: readonly unknown[] }[]
}

/** Issues, each with its path; empty if the value fits. */
export const valueChecker = (): ((schema: Json, value: Json) => readonly string[]) => {
  const schemas = new Map<string, ReturnType<typeof jsonSchema>>()
  return (schema, value) => {
    const key = canonical(schema)
    const known = schemas.get(key) ?? jsonSchema(schema)
    schemas.set(key, known)
    const { issues = [] } = known['~standard'].validate(value) as Checked
    return issues.map(({ message, path = [] }) => `/${path.map(String).join('/')}: ${message}`)
  }
}
