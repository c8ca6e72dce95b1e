/**
 * Compares what one side sends with what the other declares: fields of emitted data, of an agent's output and of the trigger's payload.
 *
 * Reports only what is certain: a required field that nothing provides, and a field that two sides type differently.
 */
import type { AddFinding } from '#manifest/yaml/finding.ts'
import {
  type EmitEntry,
  type EventEntry,
  field,
  type HandlerEntry,
  handlersOf,
  type Manifest,
  startingTypes,
} from '#manifest/yaml/manifest.ts'
import { payloadSchema } from '#manifest/yaml/parse/payload.ts'
import { isRecord, type JsonRecord, listed } from '#manifest/yaml/record.ts'
import type { Json } from '#model/kernel/json.ts'

interface Fields {
  readonly types: ReadonlyMap<string, string | null>
  readonly required: readonly string[]
  /** Undeclared fields are allowed too. */
  readonly isOpen: boolean
}

const typeOf = (schema: Json | undefined): string | null =>
  isRecord(schema) && typeof schema['type'] === 'string' ? schema['type'] : null

/** Null: nothing is known about it. */
const fieldsOf = (schema: Json | undefined): Fields | null => {
  if (!isRecord(schema) || !isRecord(schema['properties'])) return null
  return {
    types: new Map(Object.entries(schema['properties']).map(([name, one]) => [name, typeOf(one)])),
    required: listed(schema['required']).map(String),
    isOpen: schema['additionalProperties'] !== false,
  }
}

/** Undefined: it accepts anything, or its schema is in a file. */
export const payloadSchemaOf = (event: EventEntry): Json | undefined => {
  if (event.schema !== undefined) return isRecord(event.schema) ? event.schema : undefined
  return event.payload === undefined || event.payload === null
    ? undefined
    : payloadSchema(event.payload, event.additional ?? true, [], () => undefined)
}

const payloadFields = (event: EventEntry): Fields | null => fieldsOf(payloadSchemaOf(event))

export const outputSchemaOf = (handler: HandlerEntry): Json | undefined => {
  const contract = field(handler, 'contract')
  return (isRecord(contract) ? contract['output_schema'] : undefined) ?? field(handler, 'output_schema')
}

const isSame = (a: string | null, b: string | null): boolean => {
  if (a === null || b === null || a === b) return true
  return [a, b].every((type) => type === 'integer' || type === 'number')
}

interface Sides {
  readonly output: Fields | null
  readonly triggers: readonly (Fields | null)[]
}

/** The type of a field's source: data, else output, else the trigger's data. Undefined: no source; null: its type is not known. */
const sourceType = (name: string, emit: EmitEntry, { output, triggers }: Sides): string | null | undefined => {
  const data = emit.data
  if (isRecord(data)) return Object.hasOwn(data, name) ? literalType((data as JsonRecord)[name]) : undefined
  if (data !== undefined && data !== null) return null
  if (output?.types.has(name)) return output.types.get(name) ?? null
  if (triggers.some((fields) => fields === null)) return null
  const given = triggers.find((fields) => fields?.types.has(name))
  if (given?.types.has(name)) return given.types.get(name) ?? null
  // The output of functions is not known; an agent's output is what its schema says.
  return output === null ? null : undefined
}

const literalType = (value: Json | undefined): string | null => {
  if (typeof value === 'number' || typeof value === 'boolean') return typeof value
  return typeof value === 'string' && !value.includes('{{') && !value.includes('${') ? 'string' : null
}

const lintEmit = (emit: EmitEntry, declared: Fields, sides: Sides, path: readonly string[], tell: AddFinding): void => {
  for (const [name, type] of declared.types) {
    const given = sourceType(name, emit, sides)
    if (given === undefined && declared.required.includes(name)) {
      const message = `${emit.event} requires ${name}, but nothing provides it`
      tell({ level: 'warning', code: 'LINT_SCHEMA_MISMATCH', message, path })
    } else if (given !== undefined && !isSame(given, type)) {
      const message = `${emit.event} declares ${name} as ${type}, but gets ${given}`
      tell({ level: 'warning', code: 'LINT_SCHEMA_MISMATCH', message, path })
    }
  }
  if (declared.isOpen || !isRecord(emit.data)) return
  for (const name of Object.keys(emit.data).filter((one) => !declared.types.has(one))) {
    const message = `${emit.event} has no field ${name}`
    tell({ level: 'warning', code: 'LINT_SCHEMA_MISMATCH', message, path })
  }
}

export const lintSchemas = (manifest: Manifest, tell: AddFinding): void => {
  const events = new Map(manifest.events.definitions.map((event) => [event.name, payloadFields(event)]))
  for (const { section, handler } of handlersOf(manifest)) {
    const output = fieldsOf(outputSchemaOf(handler))
    const triggers = startingTypes(handler, manifest).map((type) => events.get(type) ?? null)
    const sides = { output, triggers: triggers.length === 0 ? [null] : triggers }
    for (const emit of handler.emits ?? []) {
      const declared = events.get(emit.event) ?? null
      if (declared !== null) lintEmit(emit, declared, sides, [section, handler.name, 'emits', emit.event], tell)
    }
  }
}
