/**
 * Suggests first commands for a running system: to send an event that starts something, with data that matches its schema.
 *
 * Owns the choice and the quoting. If a schema cannot be exported as JSON Schema, no data is suggested, because the user knows better.
 */
import type { System } from '#manifest/define/system.ts'
import { jsonSchemaOf } from '#manifest/schema/json-schema.ts'
import { sampleOf, seeded } from '#manifest/simulate/sample.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'

/** Null: the schema cannot be exported, so no sample data can be made. */
const dataFor = ({ events }: System, type: string): Json | null => {
  const schema = events.get(type)?.schema ?? null
  if (schema === null) return {}
  try {
    return sampleOf(jsonSchemaOf(schema, type), seeded(1))
  } catch (error) {
    if (error instanceof TrihandError) return null
    throw error
  }
}

/** In single quotes, as a shell takes it. */
const quoted = (data: Json): string => `'${JSON.stringify(data).replaceAll("'", `'\\''`)}'`

export const suggestionsFor = (system: System): readonly string[] => {
  const [type] = system.listeners.keys()
  const data = type === undefined ? null : dataFor(system, type)
  return [
    ...(type === undefined ? [] : [`npx trihand send ${type} ${data === null ? '@data.json' : quoted(data)}`]),
    'npx trihand runs list',
    'npx trihand runs show <id>',
  ]
}
