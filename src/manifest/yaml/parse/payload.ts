/**
 * The payload of an event: brings short forms to the long form, and the long form to JSON Schema 2020-12.
 *
 * Owns the names of types, what `min` and `max` mean for each, and `!`. Never checks a value (ajv-schema.ts).
 */
import type { AddFinding, Path } from '#manifest/yaml/finding.ts'
import { isRecord, type JsonRecord } from '#manifest/yaml/record.ts'
import type { Json } from '#model/kernel/json.ts'
import { nearest } from '#model/kernel/nearest.ts'

/** The JSON Schema of each type. */
const TYPES: Readonly<Record<string, JsonRecord>> = {
  string: { type: 'string' },
  text: { type: 'string' },
  uuid: { type: 'string', format: 'uuid' },
  timestamp: { type: 'string', format: 'date-time' },
  number: { type: 'number' },
  integer: { type: 'integer' },
  boolean: { type: 'boolean' },
  object: { type: 'object' },
  array: { type: 'array' },
  json: {},
  any: {},
}
const ALIASES: Readonly<Record<string, string>> = { int: 'integer', float: 'number', bool: 'boolean', list: 'array' }

const typeName = (text: string): string => ALIASES[text] ?? text

/** `string!` is required, `string?` is not, `string[]` is a list of them. */
const shortField = (text: string): JsonRecord => {
  const [, type = '', list = '', mark = ''] = /^(.*?)(\[\])?([!?]?)$/s.exec(text.trim()) ?? []
  const required = mark === '!'
  if (list !== '') return { type: 'array', required, items: { type: typeName(type) } }
  return { type: type === '' ? 'any' : typeName(type), required }
}

const longItem = (given: Json): Json => {
  const { required: _, ...item } = longField(given)
  return item
}

const longField = (given: Json): JsonRecord => {
  if (given === null) return { type: 'any', required: false }
  if (typeof given === 'string') return shortField(given)
  // Kept unchanged for the check, which knows the path.
  if (!isRecord(given)) return { type: given, required: false }
  const { type = 'any', required, items, properties, ...rest } = given
  const field = typeof type === 'string' ? shortField(type) : { type, required: false }
  return {
    ...field,
    ...(required === undefined ? {} : { required }),
    ...(items === undefined ? {} : { items: longItem(items) }),
    ...(properties === undefined ? {} : { properties: longPayload(properties) }),
    ...rest,
  }
}

/** True if a payload already is JSON Schema. */
const isJsonSchema = (payload: JsonRecord): boolean => payload['type'] === 'object' && isRecord(payload['properties'])

export const longPayload = (given: Json): Json => {
  if (Array.isArray(given) && given.every((name) => typeof name === 'string'))
    return Object.fromEntries(given.map((name) => [name, { type: 'any', required: true }]))
  if (!isRecord(given) || isJsonSchema(given)) return given
  return Object.fromEntries(Object.entries(given).map(([name, field]) => [name, longField(field)]))
}

const BOUNDS: Readonly<Record<string, readonly [min: string, max: string]>> = {
  number: ['minimum', 'maximum'],
  integer: ['minimum', 'maximum'],
  string: ['minLength', 'maxLength'],
  array: ['minItems', 'maxItems'],
}

const FIELD_KEYS = ['type', 'required', 'enum', 'min', 'max', 'items', 'properties', 'description', 'default', 'format']

const refuse = (tell: AddFinding, path: Path, message: string): void =>
  tell({ level: 'error', code: 'MANIFEST_INVALID', message, path })

const baseOf = (field: JsonRecord, path: Path, tell: AddFinding): JsonRecord => {
  const type = field['type']
  const base = typeof type === 'string' && Object.hasOwn(TYPES, type) ? TYPES[type] : undefined
  if (base !== undefined) return base
  const near = nearest(String(type), Object.keys(TYPES))
  const guess = near === null ? `expected one of ${Object.keys(TYPES).join(', ')}` : `did you mean ${near}?`
  refuse(tell, [...path, 'type'], `${JSON.stringify(type)} is not a type of a field; ${guess}`)
  return {}
}

const boundsOf = (field: JsonRecord, base: JsonRecord, path: Path, tell: AddFinding): JsonRecord => {
  const names = BOUNDS[String(base['type'])]
  const bounds: Record<string, Json> = {}
  for (const [i, key] of ['min', 'max'].entries()) {
    const value = field[key]
    if (value === undefined) continue
    const name = names?.[i]
    if (name === undefined || typeof value !== 'number')
      refuse(tell, [...path, key], `${key} must be a number, and only numbers, texts and lists can have it`)
    else bounds[name] = value
  }
  return bounds
}

/** Values of a text compare as texts, however YAML read them. */
const enumOf = (field: JsonRecord, base: JsonRecord, path: Path, tell: AddFinding): JsonRecord => {
  const values = field['enum']
  if (values === undefined) return {}
  if (!Array.isArray(values) || values.length === 0) {
    refuse(tell, [...path, 'enum'], 'an enum must be a list of values')
    return {}
  }
  return { enum: base['type'] === 'string' ? [...new Set(values.map((value) => String(value)))] : values }
}

const unknownKeys = (field: JsonRecord, path: Path, tell: AddFinding): void => {
  for (const key of Object.keys(field)) {
    if (FIELD_KEYS.includes(key) || key.startsWith('x-')) continue
    const near = nearest(key, FIELD_KEYS)
    const message = `a field has no ${key}${near === null ? '' : `; did you mean ${near}?`}`
    tell({ level: 'warning', code: 'MANIFEST_UNKNOWN_KEY', message, path: [...path, key], on: 'key' })
  }
}

const fieldSchema = (given: Json | undefined, path: Path, tell: AddFinding): Json => {
  if (!isRecord(given)) {
    refuse(tell, path, 'a field must be a type, like string!, or have a type')
    return {}
  }
  unknownKeys(given, path, tell)
  const base = baseOf(given, path, tell)
  const { items, properties, description, default: usual, format } = given
  if (given['required'] !== undefined && typeof given['required'] !== 'boolean')
    refuse(tell, [...path, 'required'], 'required must be true or false')
  return {
    ...base,
    ...(typeof description === 'string' ? { description } : {}),
    ...(usual === undefined ? {} : { default: usual }),
    ...(typeof format === 'string' ? { format } : {}),
    ...enumOf(given, base, path, tell),
    ...boundsOf(given, base, path, tell),
    ...(items === undefined ? {} : { items: fieldSchema(items, [...path, 'items'], tell) }),
    ...(properties === undefined ? {} : membersSchema(properties, [...path, 'properties'], tell)),
  }
}

const membersSchema = (given: Json, path: Path, tell: AddFinding): JsonRecord => {
  if (!isRecord(given)) {
    refuse(tell, path, 'the fields must be a map of names to types, or a list of names')
    return {}
  }
  const fields = Object.entries(given)
  const required = fields.filter(([, field]) => isRecord(field) && field['required'] === true).map(([name]) => name)
  return {
    properties: Object.fromEntries(fields.map(([name, field]) => [name, fieldSchema(field, [...path, name], tell)])),
    ...(required.length === 0 ? {} : { required }),
  }
}

/** Takes the long form. `additional: false` accepts no undeclared field. */
export const payloadSchema = (payload: Json, additional: boolean, path: Path, tell: AddFinding): Json => {
  if (isRecord(payload) && isJsonSchema(payload)) return payload
  return {
    type: 'object',
    ...membersSchema(payload, path, tell),
    ...(additional ? {} : { additionalProperties: false }),
  }
}
