/**
 * Decides whether a schema may be sent to OpenAI as strict: every object must be closed and require all of its members.
 *
 * Owns that check alone. Other schemas are sent as not strict; we validate the answer either way.
 */
import type { Json } from '#model/kernel/json.ts'

type Members = { readonly [key: string]: Json }

const isMembers = (value: Json | undefined): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isClosed = (schema: Members): boolean => {
  const { properties, required, additionalProperties } = schema
  if (!isMembers(properties)) return schema['type'] !== 'object'
  const names = new Set(Array.isArray(required) ? required : [])
  return additionalProperties === false && Object.keys(properties).every((name) => names.has(name))
}

export const isStrictSchema = (schema: Json): boolean => {
  if (Array.isArray(schema)) return schema.every(isStrictSchema)
  if (!isMembers(schema)) return true
  return isClosed(schema) && Object.values(schema).every(isStrictSchema)
}
