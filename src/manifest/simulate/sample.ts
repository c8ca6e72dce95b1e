/**
 * Makes data that fits a schema, from a seed: the same seed makes the same data.
 *
 * Owns how values look: fields keep their values along a chain, ids of one name have one value, enums are cycled, numbers stay in bounds.
 */
import { isRecord, type JsonRecord, listed } from '#manifest/yaml/record.ts'
import type { Json } from '#model/kernel/json.ts'

/** Returns the next number in [0, 1) at each call. */
export type Roll = () => number

export const seeded = (seed: number): Roll => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const MAX_DEPTH = 6
const NOON = '2026-01-01T12:00:00Z'

const pick = <Item>(items: readonly Item[], roll: Roll): Item => items[Math.floor(roll() * items.length)] as Item

/** The same value for the same name everywhere, so that groups keyed by it match. */
const uuidOf = (name: string): string => {
  const roll = seeded([...name].reduce((sum, sign) => sum * 31 + sign.charCodeAt(0), 7))
  const digits = Array.from({ length: 30 }, () => Math.floor(roll() * 16).toString(16)).join('')
  const parts = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `7${digits.slice(12, 15)}`,
    `8${digits.slice(15, 18)}`,
    digits.slice(18, 30),
  ]
  return parts.join('-')
}

const textOf = (schema: JsonRecord, name: string): string => {
  if (schema['format'] === 'uuid') return uuidOf(name)
  if (schema['format'] === 'date-time') return NOON
  if (schema['format'] === 'date') return NOON.slice(0, 10)
  if (schema['format'] === 'email') return `${name}@example.org`
  if (schema['format'] === 'uri') return `https://example.org/${name}`
  const text = /(^|_)id$/.test(name) ? `${name}-1` : `a ${name.replaceAll('_', ' ')}`
  const { minLength, maxLength } = schema
  const padded = typeof minLength === 'number' ? text.padEnd(minLength, '.') : text
  return typeof maxLength === 'number' ? padded.slice(0, maxLength) : padded
}

const numberOf = (schema: JsonRecord, roll: Roll): number => {
  const least = typeof schema['minimum'] === 'number' ? schema['minimum'] : 0
  const most = typeof schema['maximum'] === 'number' ? schema['maximum'] : least + 100
  const value = least + roll() * (most - least)
  return schema['type'] === 'integer' ? Math.min(Math.ceil(value), Math.floor(most)) : Math.round(value * 100) / 100
}

const limitOf = (limit: Json | undefined, sign: -1 | 1): number =>
  typeof limit === 'number' ? limit : sign * Number.POSITIVE_INFINITY

const FORMS: Readonly<Record<string, RegExp>> = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  'date-time': /^\d{4}-\d{2}-\d{2}T/i,
  date: /^\d{4}-\d{2}-\d{2}$/,
  email: /^[^\s@]+@[^\s@]+$/,
  uri: /^[a-z][a-z0-9+.-]*:/i,
}

const hasFormat = (format: string, value: string): boolean => FORMS[format]?.test(value) ?? true

/** True if an available value may be used here. */
const fits = (schema: JsonRecord, value: Json): boolean => {
  const { type, enum: values } = schema
  if (Array.isArray(values)) return values.includes(value)
  if (type === undefined) return true
  if (typeof value === 'number' && (value < limitOf(schema['minimum'], -1) || value > limitOf(schema['maximum'], 1)))
    return false
  if (typeof value === 'string' && typeof schema['format'] === 'string' && !hasFormat(schema['format'], value))
    return false
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isRecord(value)
  return type === 'null' ? value === null : typeof value === type
}

const membersOf = (schema: JsonRecord, roll: Roll, known: JsonRecord, depth: number): JsonRecord => {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {}
  return Object.fromEntries(
    Object.entries(properties).map(([name, one]) => [name, sampleOf(one, roll, known, name, depth + 1)]),
  )
}

/** `known`: values by name that are kept as they are, if they fit. */
export const sampleOf = (schema: Json, roll: Roll, known: JsonRecord = {}, name = 'value', depth = 0): Json => {
  if (!isRecord(schema) || depth > MAX_DEPTH) return null
  const given = depth > 0 && Object.hasOwn(known, name) ? known[name] : undefined
  if (given !== undefined && fits(schema, given)) return given
  if (schema['const'] !== undefined) return schema['const']
  if (Array.isArray(schema['enum'])) return pick(schema['enum'], roll)
  const [first] = listed(schema['anyOf'] ?? schema['oneOf'])
  if (first !== undefined) return sampleOf(first, roll, known, name, depth + 1)
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type']
  switch (type) {
    case 'number':
    case 'integer':
      return numberOf({ ...schema, type }, roll)
    case 'boolean':
      return true
    case 'null':
      return null
    case 'array': {
      const count = Math.max(1, Number(schema['minItems'] ?? 1))
      return Array.from({ length: Math.min(count, 20) }, () =>
        sampleOf(schema['items'] ?? {}, roll, {}, name, depth + 1),
      )
    }
    case 'object':
      return membersOf(schema, roll, known, depth)
    default:
      return textOf(schema, name)
  }
}
