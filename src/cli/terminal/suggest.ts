/**
 * What to type first on a system that runs: an event that something listens to, with data that fits it.
 *
 * Owns the choice and the quoting. A schema that its library cannot write is answered with no suggestion of data: the user knows better.
 */
import type { System } from '#manifest/define/system.ts'
import { jsonSchemaOf } from '#manifest/schema/json-schema.ts'
import { sampleOf, seeded } from '#manifest/simulate/sample.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'

/** Null: nobody can say what fits. */
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
