/**
 * Which fields a form has for a JSON Schema, what is wrong with what was filled in, and the value that it makes. The page and the terminal
 * share it.
 *
 * Owns how far a form goes: texts, numbers, yes or no, one of some words, dates and times, lists of simple values (one on each line), and
 * objects in objects, whose fields are named by their path. Anything else is JSON. The server checks the whole schema again.
 */
import { isoTime } from './iso-time.ts'
import { isForbiddenKey, isJsonRecord as isRecord, type Json } from './json.ts'

type Schema = { readonly [key: string]: Json }

export type FieldKind =
  | ('text' | 'long' | 'number' | 'integer' | 'yes' | 'words' | 'lines' | 'json')
  | ('date' | 'date-time' | 'time' | 'email' | 'uri')

export interface Field {
  /** Where it stands in the value. */
  readonly path: readonly string[]
  /** The path as one name. */
  readonly name: string
  readonly label: string
  readonly kind: FieldKind
  readonly words: readonly string[]
  readonly isRequired: boolean
  readonly description: string | null
  readonly schema: Schema
}

const FORMATS = ['date', 'date-time', 'time', 'email', 'uri'] as const
const SIMPLE = ['string', 'number', 'integer', 'boolean']
/** Objects in objects beyond this are written as JSON. */
const MOST_DEEP = 3
const LONG = 200

const isChoice = ({ enum: words }: Schema): boolean =>
  Array.isArray(words) && words.every((word) => typeof word !== 'object' || word === null)

const stringKind = ({ format, maxLength, pattern }: Schema): FieldKind => {
  const known = FORMATS.find((one) => one === format)
  if (known !== undefined) return known
  return pattern !== undefined || (typeof maxLength === 'number' && maxLength <= LONG) ? 'text' : 'long'
}

const kindOf = (schema: Schema): FieldKind => {
  if (isChoice(schema)) return 'words'
  switch (schema['type']) {
    case 'string':
      return stringKind(schema)
    case 'number':
    case 'integer':
      return schema['type']
    case 'boolean':
      return 'yes'
    case 'array': {
      const { items } = schema
      return isRecord(items) && SIMPLE.includes(String(items['type'])) ? 'lines' : 'json'
    }
    default:
      return 'json'
  }
}

const textOr = <Other>(value: Json | undefined, other: Other): string | Other =>
  typeof value === 'string' ? value : other

/** What a name stands for, and the kind of what may also be null. */
const resolved = (given: Json | undefined, root: Schema): Schema => {
  const schema = isRecord(given) ? given : {}
  const [, group, name] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(textOr(schema['$ref'], '')) ?? []
  const found = group === undefined || name === undefined ? undefined : root[group]
  if (isRecord(found) && isRecord(found[name ?? ''])) return { ...(found[name ?? ''] as Schema), ...schema }
  const { anyOf, type } = schema
  if (Array.isArray(type)) return { ...schema, type: type.find((one) => one !== 'null') ?? 'null' }
  if (!Array.isArray(anyOf)) return schema
  const real = anyOf.filter((one) => isRecord(one) && one['type'] !== 'null')
  return real.length === 1 && isRecord(real[0]) ? { ...real[0], ...schema, anyOf: null } : schema
}

const isGroup = (schema: Schema): boolean => schema['type'] === 'object' && isRecord(schema['properties'])

const membersOf = (schema: Schema, root: Schema, above: readonly string[], isNeeded: boolean): readonly Field[] => {
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const properties = isRecord(schema['properties']) ? schema['properties'] : {}
  return Object.entries(properties).flatMap(([name, member]) => {
    // The ledger refuses a value with such a name, and an assignment to it would change every object.
    if (isForbiddenKey(name)) return []
    const own = resolved(member, root)
    const path = [...above, name]
    const isRequired = isNeeded && required.includes(name)
    if (isGroup(own) && path.length < MOST_DEEP) return membersOf(own, root, path, isRequired)
    const field: Field = {
      ...{ path, name: path.join('.'), label: [...above, textOr(own['title'], name)].join(' › ') },
      ...{ kind: kindOf(own), isRequired, description: textOr(own['description'], null), schema: own },
      words: Array.isArray(own['enum']) ? own['enum'].map(String) : [],
    }
    return [field]
  })
}

const named = (name: string): Field => ({
  ...{ path: [name], name, label: name, kind: 'long', words: [], isRequired: true, description: null, schema: {} },
})

/** Null: no form, only JSON. `required`: names that must be there, whether the schema describes them or not. */
export const fieldsOf = (schema: Json, required: readonly string[] = []): readonly Field[] | null => {
  const own = isRecord(schema) && isGroup(schema) ? membersOf(schema, schema, [], true) : []
  const missing = required.filter((name) => !own.some(({ path }) => path[0] === name))
  const all = [...own, ...missing.map(named)]
  if (all.length === 0) return isRecord(schema) && isGroup(schema) ? all : null
  return all.map((field) => (required.includes(field.name) ? { ...field, isRequired: true } : field))
}

export type Filled = Readonly<Record<string, string | boolean>>

/** A member such as `toString` was not filled in because every object has one. */
const filledIn = (filled: Filled, { name }: Field): string | boolean | undefined =>
  Object.hasOwn(filled, name) ? filled[name] : undefined

const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/
// biome-ignore lint/style/noRestrictedGlobals: reads an instant that was given, and asks no clock
const instantOf = (text: string): number => Date.parse(text)
const isDay = (text: string): boolean =>
  DATE.test(text) && isoTime(instantOf(`${text}T00:00:00Z`)).slice(0, 10) === text

const limit = (schema: Schema, key: string): number | null => (typeof schema[key] === 'number' ? schema[key] : null)

const numberProblem = (schema: Schema, text: string): string | null => {
  const value = Number(text)
  const [least, most] = [limit(schema, 'minimum'), limit(schema, 'maximum')]
  const [above, below] = [limit(schema, 'exclusiveMinimum'), limit(schema, 'exclusiveMaximum')]
  if (text.trim() === '' || !Number.isFinite(value)) return 'is not a number'
  if (schema['type'] === 'integer' && !Number.isInteger(value)) return 'is not a whole number'
  if (least !== null && value < least) return `must be at least ${least}`
  if (most !== null && value > most) return `must be at most ${most}`
  if (above !== null && value <= above) return `must be more than ${above}`
  return below !== null && value >= below ? `must be less than ${below}` : null
}

const hasPattern = (pattern: string, text: string): boolean => {
  try {
    return new RegExp(pattern, 'u').test(text)
  } catch {
    // The server knows the pattern; this browser does not.
    return true
  }
}

const lengthProblem = (schema: Schema, text: string): string | null => {
  const [least, most] = [limit(schema, 'minLength'), limit(schema, 'maxLength')]
  if (least !== null && text.length < least) return `must have at least ${least} characters`
  if (most !== null && text.length > most) return `must have at most ${most} characters`
  const pattern = textOr(schema['pattern'], null)
  return pattern === null || hasPattern(pattern, text) ? null : `does not have the form ${pattern}`
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '')

const lineProblem = (items: Schema, line: string): string | null => {
  if (items['type'] === 'string') return lengthProblem(items, line)
  if (items['type'] === 'boolean') return line === 'true' || line === 'false' ? null : 'is neither true nor false'
  return numberProblem(items, line)
}

const listProblem = (schema: Schema, lines: readonly string[]): string | null => {
  const items = isRecord(schema['items']) ? schema['items'] : {}
  const [least, most] = [limit(schema, 'minItems'), limit(schema, 'maxItems')]
  if (least !== null && lines.length < least) return `must have at least ${least} lines`
  if (most !== null && lines.length > most) return `must have at most ${most} lines`
  const wrong = lines.findIndex((line) => lineProblem(items, line) !== null)
  return wrong === -1 ? null : `in line ${wrong + 1} ${lineProblem(items, lines[wrong] ?? '')}`
}

const textProblem = ({ kind, schema, words }: Field, text: string): string | null => {
  switch (kind) {
    case 'words':
      return words.includes(text) ? null : `is not one of ${words.join(', ')}`
    case 'number':
    case 'integer':
      return numberProblem(schema, text)
    case 'date':
      return isDay(text) ? null : 'is not a date, like 2026-01-31'
    case 'date-time':
      return Number.isNaN(instantOf(text)) ? 'is not a date and time' : null
    case 'email':
      return /^[^\s@]+@[^\s@]+$/.test(text) ? null : 'is not an e-mail address'
    case 'uri':
      return URL.canParse(text) ? null : 'is not an address, like https://example.com'
    case 'json':
      return isJson(text) ? null : 'is not JSON'
    case 'lines':
      return listProblem(schema, linesOf(text))
    default:
      return lengthProblem(schema, text)
  }
}

/** What is wrong with one field, as the end of a sentence about it. Null: nothing. */
export const problemOf = (field: Field, given: string | boolean | undefined): string | null => {
  if (typeof given === 'boolean') return null
  if (given === undefined || given === '') return field.isRequired && field.kind !== 'yes' ? 'is required' : null
  return textProblem(field, given)
}

/** What is wrong, by the name of the field. */
export const problemsOf = (fields: readonly Field[], filled: Filled): Readonly<Record<string, string>> =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const problem = problemOf(field, filledIn(filled, field))
      return problem === null ? [] : [[field.name, `${field.label} ${problem}`] as const]
    }),
  )

const valueIn = ({ kind, schema, words }: Field, given: string | boolean): Json => {
  if (typeof given === 'boolean') return given
  if (kind === 'number' || kind === 'integer') return Number(given)
  if (kind === 'json') return JSON.parse(given) as Json
  if (kind === 'words') return Array.isArray(schema['enum']) ? (schema['enum'][words.indexOf(given)] ?? given) : given
  if (kind === 'date-time') return isoTime(instantOf(given))
  if (kind !== 'lines') return given
  const isText = isRecord(schema['items']) && schema['items']['type'] === 'string'
  return linesOf(given).map((line) => (isText ? line : (JSON.parse(line) as Json)))
}

type Members = { [name: string]: Json }

const put = (value: Members, [name = '', ...rest]: readonly string[], given: Json): void => {
  if (rest.length === 0) {
    value[name] = given
    return
  }
  if (!Object.hasOwn(value, name)) value[name] = {}
  put(value[name] as Members, rest, given)
}

/** What is left empty is left out; a box that must be there and is not ticked says no. */
export const filledRecord = (fields: readonly Field[], filled: Filled): Members => {
  const value: Members = {}
  for (const field of fields) {
    const given = filledIn(filled, field) ?? (field.kind === 'yes' && field.isRequired ? false : undefined)
    if (given !== undefined && given !== '') put(value, field.path, valueIn(field, given))
  }
  return value
}

/** The same, or the first thing that is wrong with it. */
export const filledValue = (fields: readonly Field[], filled: Filled): Json => {
  const given = fields.filter((field) => (filledIn(filled, field) ?? '') !== '')
  const [problem] = Object.values(problemsOf(given, filled))
  if (problem !== undefined) throw new Error(problem)
  return filledRecord(fields, filled)
}
