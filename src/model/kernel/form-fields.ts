/**
 * Computes the fields of a form for a JSON Schema, the problems with what was filled in, and the value that it makes. The page and the terminal
 * share it.
 *
 * Owns how far a form goes: texts, numbers, yes or no, one or several of some choices, dates and times, lists of simple values (one on each
 * line), lists of objects (a row of fields for each), and objects in objects, whose fields are named by their path. Anything else is JSON.
 * The server checks the whole schema again.
 */
import { isoTime } from './iso-time.ts'
import { isForbiddenKey, isJsonRecord as isRecord, type Json } from './json.ts'

type Schema = { readonly [key: string]: Json }

export type FieldKind =
  | ('text' | 'long' | 'number' | 'integer' | 'yes' | 'words' | 'json')
  | ('lines' | 'choices' | 'rows')
  | ('date' | 'date-time' | 'time' | 'email' | 'uri')

export interface Field {
  /** Its place in the value. */
  readonly path: readonly string[]
  /** The path as one name. */
  readonly name: string
  readonly label: string
  readonly kind: FieldKind
  readonly words: readonly string[]
  readonly isRequired: boolean
  /** The optional object that needs this field as soon as any other field of that object is filled in. */
  readonly requiredIn: string | null
  /** For a list of objects: the fields of each. The filled-in text is then the JSON of a list, with one record of filled-in fields per object. */
  readonly rows: readonly Field[]
  /** The schema's default, filled in when the form opens. */
  readonly initial: string | boolean | null
  readonly description: string | null
  readonly schema: Schema
}

const FORMATS = ['date', 'date-time', 'time', 'email', 'uri'] as const
const SIMPLE = ['string', 'number', 'integer', 'boolean']
/** Objects nested deeper than this are entered as JSON. */
const MOST_DEEP = 3
const LONG = 200

const isSimple = (value: Json): boolean => typeof value !== 'object' || value === null

/** The values to choose from. */
const choicesOf = (schema: Schema): readonly Json[] | null => {
  const { enum: words, oneOf, const: only } = schema
  if (Array.isArray(words) && words.every(isSimple)) return words
  if (only !== undefined && isSimple(only)) return [only]
  const constants = Array.isArray(oneOf) ? oneOf.map((one) => (isRecord(one) ? one['const'] : undefined)) : []
  return constants.length > 0 && constants.every((one) => one !== undefined && isSimple(one))
    ? constants.filter((one) => one !== undefined)
    : null
}

const stringKind = ({ format, maxLength, pattern }: Schema): FieldKind => {
  const known = FORMATS.find((one) => one === format)
  if (known !== undefined) return known
  return pattern !== undefined || (typeof maxLength === 'number' && maxLength <= LONG) ? 'text' : 'long'
}

const listKind = (items: Schema): FieldKind => {
  if (choicesOf(items) !== null) return 'choices'
  if (isGroup(items)) return 'rows'
  return SIMPLE.includes(String(items['type'])) ? 'lines' : 'json'
}

const kindOf = (schema: Schema, items: Schema): FieldKind => {
  if (choicesOf(schema) !== null) return 'words'
  switch (schema['type']) {
    case 'string':
      return stringKind(schema)
    case 'number':
    case 'integer':
      return schema['type']
    case 'boolean':
      return 'yes'
    case 'array':
      return listKind(items)
    default:
      return 'json'
  }
}

const textOr = <Other>(value: Json | undefined, other: Other): string | Other =>
  typeof value === 'string' ? value : other

/** Resolves a `$ref`, and takes the other type of a type that may also be null. */
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

/** A default, spelled as a person would have typed it. */
const typedOf = (kind: FieldKind, value: Json | undefined): string | boolean | null => {
  if (value === undefined || value === null || kind === 'rows') return null
  if (kind === 'yes') return typeof value === 'boolean' ? value : null
  if (kind === 'json') return JSON.stringify(value)
  if (kind === 'lines' || kind === 'choices') return Array.isArray(value) ? value.map(String).join('\n') : null
  return isSimple(value) ? String(value) : null
}

interface Above {
  readonly path: readonly string[]
  /** The innermost object above that may be left out. */
  readonly optional: string | null
  /** How many lists of objects it is nested in. */
  readonly lists: number
}

const TOP: Above = { path: [], optional: null, lists: 0 }

const fieldOf = (own: Schema, root: Schema, above: Above, name: string, isMust: boolean): Field => {
  const path = [...above.path, name]
  const items = resolved(own['items'], root)
  const found = kindOf(own, items)
  const kind = found === 'rows' && above.lists > 0 ? 'json' : found
  const rows = kind === 'rows' ? membersOf(items, root, { ...TOP, lists: above.lists + 1 }) : []
  return {
    ...{ path, name: path.join('.'), label: [...above.path, textOr(own['title'], name)].join(' › ') },
    ...{ kind, rows, schema: { ...own, ...(own['items'] !== undefined && { items }) } },
    words: ((kind === 'choices' ? choicesOf(items) : choicesOf(own)) ?? []).map(String),
    isRequired: isMust && above.optional === null,
    requiredIn: isMust ? above.optional : null,
    description: textOr(own['description'], null),
    // A default inside an optional object would make the rest of that object required.
    initial: above.optional === null ? typedOf(kind, own['default']) : null,
  }
}

const membersOf = (schema: Schema, root: Schema, above: Above): readonly Field[] => {
  const required = Array.isArray(schema['required']) ? schema['required'] : []
  const properties = isRecord(schema['properties']) ? schema['properties'] : {}
  return Object.entries(properties).flatMap(([name, member]) => {
    // The ledger refuses a value that has such a member, and an assignment to it would change every object.
    if (isForbiddenKey(name)) return []
    const own = resolved(member, root)
    const path = [...above.path, name]
    const isMust = required.includes(name)
    if (!isGroup(own) || path.length >= MOST_DEEP) return [fieldOf(own, root, above, name, isMust)]
    return membersOf(own, root, { ...above, path, optional: isMust ? above.optional : path.join('.') })
  })
}

const named = (name: string): Field => ({
  ...{ path: [name], name, label: name, kind: 'long', words: [], isRequired: true, description: null, schema: {} },
  ...{ requiredIn: null, rows: [], initial: null },
})

/** Null: no form, only JSON. `required`: names that must be filled in, even if the schema does not describe them. */
export const fieldsOf = (schema: Json, required: readonly string[] = []): readonly Field[] | null => {
  const own = isRecord(schema) && isGroup(schema) ? membersOf(schema, schema, TOP) : []
  const missing = required.filter((name) => !own.some(({ path }) => path[0] === name))
  const all = [...own, ...missing.map(named)]
  if (all.length === 0) return isRecord(schema) && isGroup(schema) ? all : null
  return all.map((field) => (required.includes(field.name) ? { ...field, isRequired: true } : field))
}

export type Filled = Readonly<Record<string, string | boolean>>

/** What is filled in when the form opens: the defaults. */
export const initiallyFilled = (fields: readonly Field[]): Filled =>
  Object.fromEntries(fields.flatMap(({ name, initial }) => (initial === null ? [] : [[name, initial] as const])))

/** The rows of a list of objects. */
export const rowsIn = (given: string | boolean | undefined): readonly Filled[] => {
  const rows: unknown = typeof given === 'string' && isJson(given) ? JSON.parse(given) : []
  return Array.isArray(rows) ? rows.filter((row): row is Filled => isRecord(row)) : []
}

/** Own members only: `toString`, which every object has, was not filled in. */
const filledIn = (filled: Filled, { name }: Field): string | boolean | undefined =>
  Object.hasOwn(filled, name) ? filled[name] : undefined

const isFilled = (filled: Filled, field: Field): boolean => !['', undefined].includes(filledIn(filled, field) as string)

/** True for a field that is always required, or that is required because another field of its object is filled in. */
const isNeeded = (field: Field, fields: readonly Field[], filled: Filled): boolean => {
  const { isRequired, requiredIn } = field
  if (isRequired || requiredIn === null) return isRequired
  return fields.some((other) => other.name.startsWith(`${requiredIn}.`) && isFilled(filled, other))
}

const TIME = /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/i
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
    // The server knows this pattern, this browser does not: the server will check it.
    return true
  }
}

const lengthProblem = (schema: Schema, text: string): string | null => {
  const [least, most] = [limit(schema, 'minLength'), limit(schema, 'maxLength')]
  if (least !== null && text.length < least) return `must have at least ${least} characters`
  if (most !== null && text.length > most) return `must have at most ${most} characters`
  const pattern = textOr(schema['pattern'], null)
  return pattern === null || hasPattern(pattern, text) ? null : `does not match ${pattern}`
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

const itemsIn = ({ items }: Schema): Schema => (isRecord(items) ? items : {})

const countProblem = (schema: Schema, count: number, noun: string): string | null => {
  const [least, most] = [limit(schema, 'minItems'), limit(schema, 'maxItems')]
  const many = (n: number): string => `${n} ${noun}${n === 1 ? '' : 's'}`
  if (least !== null && count < least) return `must have at least ${many(least)}`
  return most !== null && count > most ? `must have at most ${many(most)}` : null
}

const listProblem = ({ kind, schema, words, rows }: Field, text: string): string | null => {
  if (kind === 'rows') {
    const given = rowsIn(text)
    const wrong = given.findIndex((row) => Object.keys(problemsOf(rows, row)).length > 0)
    if (wrong === -1) return countProblem(schema, given.length, 'row')
    return `in row ${wrong + 1}: ${Object.values(problemsOf(rows, given[wrong] ?? {}))[0]}`
  }
  const lines = linesOf(text)
  const problem = (line: string): string | null =>
    kind === 'lines'
      ? lineProblem(itemsIn(schema), line)
      : words.includes(line)
        ? null
        : `is not one of ${words.join(', ')}`
  const wrong = lines.findIndex((line) => problem(line) !== null)
  return wrong === -1
    ? countProblem(schema, lines.length, kind === 'lines' ? 'line' : 'choice')
    : `in line ${wrong + 1} ${problem(lines[wrong] ?? '')}`
}

const textProblem = (field: Field, text: string): string | null => {
  const { kind, schema, words } = field
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
    case 'time':
      return TIME.test(text) ? null : 'is not a time, like 14:00'
    case 'lines':
    case 'choices':
    case 'rows':
      return listProblem(field, text)
    default:
      return lengthProblem(schema, text)
  }
}

const LISTS: readonly FieldKind[] = ['lines', 'choices', 'rows']

/** The problem with one field, as the end of a sentence about it; null: none. A required list may be empty. */
export const problemOf = (
  field: Field,
  given: string | boolean | undefined,
  isRequired = field.isRequired,
): string | null => {
  if (typeof given === 'boolean') return null
  const isEmpty = given === undefined || given === ''
  if (LISTS.includes(field.kind)) return isEmpty && !isRequired ? null : textProblem(field, given ?? '')
  if (isEmpty) return isRequired && field.kind !== 'yes' ? 'is required' : null
  return textProblem(field, given)
}

/** The problems by name of the field. */
export const problemsOf = (fields: readonly Field[], filled: Filled): Readonly<Record<string, string>> =>
  Object.fromEntries(
    fields.flatMap((field) => {
      const problem = problemOf(field, filledIn(filled, field), isNeeded(field, fields, filled))
      return problem === null ? [] : [[field.name, `${field.label} ${problem}`] as const]
    }),
  )

/** Null can be one of the choices, so only undefined means not found. */
const choiceIn = (choices: readonly Json[] | null, words: readonly string[], word: string): Json => {
  const found = choices?.[words.indexOf(word)]
  return found === undefined ? word : found
}

const listIn = ({ kind, schema, words, rows }: Field, text: string): Json => {
  if (kind === 'rows') return rowsIn(text).map((row) => filledRecord(rows, row))
  const choices = kind === 'choices' ? choicesOf(itemsIn(schema)) : null
  const isText = itemsIn(schema)['type'] === 'string'
  return linesOf(text).map((line) => {
    if (choices !== null) return choiceIn(choices, words, line)
    return isText ? line : (JSON.parse(line) as Json)
  })
}

const valueIn = (field: Field, given: string | boolean): Json => {
  const { kind, schema, words } = field
  if (typeof given === 'boolean') return given
  if (LISTS.includes(kind)) return listIn(field, given)
  if (kind === 'number' || kind === 'integer') return Number(given)
  if (kind === 'json') return JSON.parse(given) as Json
  if (kind === 'words') return choiceIn(choicesOf(schema), words, given)
  return kind === 'date-time' ? isoTime(instantOf(given)) : given
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

/** The value of a required field that was left empty: false for a box that is not ticked, an empty list for a list. */
const unsaid = ({ kind }: Field): Json | undefined => {
  if (kind === 'yes') return false
  return LISTS.includes(kind) ? [] : undefined
}

/** Fields that were left empty are left out. */
export const filledRecord = (fields: readonly Field[], filled: Filled): Members => {
  const value: Members = {}
  for (const field of fields) {
    const given = filledIn(filled, field)
    const own = given === undefined || given === '' ? undefined : valueIn(field, given)
    const said = own === undefined && isNeeded(field, fields, filled) ? unsaid(field) : own
    if (said !== undefined) put(value, field.path, said)
  }
  return value
}

/** Like `filledRecord`, but throws the first problem. */
export const filledValue = (fields: readonly Field[], filled: Filled): Json => {
  const given = fields.filter((field) => (filledIn(filled, field) ?? '') !== '')
  const [problem] = Object.values(problemsOf(given, filled))
  if (problem !== undefined) throw new Error(problem)
  return filledRecord(fields, filled)
}
