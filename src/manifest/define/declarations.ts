/**
 * Generates TypeScript declarations for a manifest: the data of every event, and the input and output of each handler.
 *
 * Owns the printing of JSON Schema as types. A type that cannot be expressed exactly is `unknown`, never a wrong type.
 */
import { outputSchemaOf } from '#manifest/lint/schemas.ts'
import { type EventEntry, handlersOf, type Manifest, startingTypes } from '#manifest/yaml/manifest.ts'
import { payloadSchema } from '#manifest/yaml/parse/payload.ts'
import { isRecord, type JsonRecord, listed } from '#manifest/yaml/record.ts'
import type { Json } from '#model/kernel/json.ts'

const MAX_DEPTH = 8
const PRIMITIVES: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
}

const comment = (text: Json | undefined, indent: string): string =>
  typeof text === 'string' && text !== ''
    ? `${indent}/** ${text.replaceAll('*/', '* /').replace(/\s+/g, ' ')} */\n`
    : ''

const objectType = (schema: JsonRecord, indent: string, depth: number): string => {
  const properties = isRecord(schema['properties']) ? Object.entries(schema['properties']) : []
  const required = listed(schema['required'])
  const inner = `${indent}  `
  const fields = properties.map(([name, field]) => {
    const description = isRecord(field) ? field['description'] : undefined
    const mark = required.includes(name) ? '' : '?'
    return `${comment(description, inner)}${inner}readonly ${JSON.stringify(name)}${mark}: ${typeText(field, inner, depth + 1)}`
  })
  const rest = schema['additionalProperties'] === false ? [] : [`${inner}readonly [key: string]: unknown`]
  const all = [...fields, ...rest]
  return all.length === 0 ? 'Record<string, never>' : `{\n${all.join('\n')}\n${indent}}`
}

const typeText = (schema: Json | undefined, indent = '', depth = 0): string => {
  if (!isRecord(schema) || depth > MAX_DEPTH) return 'unknown'
  const { enum: values, const: only, type, items, anyOf, oneOf } = schema
  if (only !== undefined) return JSON.stringify(only)
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ') || 'never'
  const choices = anyOf ?? oneOf
  if (Array.isArray(choices)) return choices.map((one) => typeText(one, indent, depth + 1)).join(' | ') || 'never'
  if (Array.isArray(type)) return type.map((one) => typeText({ ...schema, type: one }, indent, depth + 1)).join(' | ')
  if (type === 'array') return `readonly (${typeText(items, indent, depth + 1)})[]`
  if (type === 'object') return objectType(schema, indent, depth)
  return (typeof type === 'string' ? PRIMITIVES[type] : undefined) ?? 'unknown'
}

const schemaOf = (event: EventEntry): Json | undefined => {
  if (isRecord(event.schema)) return event.schema
  if (event.payload === undefined || event.payload === null) return undefined
  return payloadSchema(event.payload, event.additional ?? true, [], () => undefined)
}

const inputType = (types: readonly string[]): string =>
  types.length === 0 ? 'unknown' : types.map((type) => `Events[${JSON.stringify(type)}]`).join(' | ')

export const declarationsOf = (manifest: Manifest): string => {
  const declared = manifest.events.definitions
  const known = new Set(declared.map(({ name }) => name))
  const heard = handlersOf(manifest).flatMap(({ handler }) => startingTypes(handler, manifest))
  const implied = [...new Set(heard)].filter((name) => !known.has(name)).map((name) => ({ name }))
  const events = [...declared, ...implied].map((event) => {
    const about = (event as EventEntry)['description'] as Json | undefined
    return `${comment(about, '  ')}  readonly ${JSON.stringify(event.name)}: ${typeText(schemaOf(event), '  ')}`
  })
  const handlers = handlersOf(manifest).map(({ section, handler }) => {
    const modality = section === 'agents' ? 'agent' : section === 'humans' ? 'human' : 'workflow'
    const output = typeText(outputSchemaOf(handler), '    ')
    return `  readonly ${JSON.stringify(handler.name)}: {
    readonly modality: '${modality}'
    readonly input: ${inputType(startingTypes(handler, manifest))}
    readonly output: ${output}
  }`
  })
  return `/** The events and handlers of ${manifest.product.name.replaceAll('*/', '* /')}. Written by \`trihand manifest types\`; do not edit. */

export interface Events {
${events.join('\n')}
}

export interface Handlers {
${handlers.join('\n')}
}

export type EventType = keyof Events
export type HandlerName = keyof Handlers
`
}
