/** What the files beside a manifest contribute to the system: code, schemas, scripts. Owns how a reference finds its schema. */
import { jsonSchema } from '#manifest/schema/ajv-schema.ts'
import type { Json } from '#model/kernel/json.ts'

/** All absent while nothing may be executed. */
export interface Parts {
  /** The code of a function, by its name: a handler, or a result of `fn`. */
  readonly code?: ReadonlyMap<string, unknown>
  /** Schemas by the reference that the manifest uses for them. */
  readonly schemas?: ReadonlyMap<string, unknown>
  /** Transforms of webhooks by the webhook's name. */
  readonly transforms?: ReadonlyMap<string, unknown>
  /** Executors by their type. */
  readonly executors?: ReadonlyMap<string, unknown>
  /** Answers of the simulated model, by agent. */
  readonly scripts?: Readonly<Record<string, Json>>
}

/** A schema that was written inline, or is known by its reference. */
export const schemaFor = (given: Json | undefined, parts: Parts): unknown => {
  if (given === undefined || given === null) return undefined
  if (typeof given === 'string') return parts.schemas?.get(given)
  return jsonSchema(given)
}
