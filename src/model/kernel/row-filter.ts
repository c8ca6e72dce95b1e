/**
 * Selects rows of a table: conditions joined by AND, each a column, a comparison and a value.
 *
 * Owns the small language of `where` and `order_by` and the meaning of comparisons. Pure: values of the input are bound, never spliced into the
 * text, and a text outside of the language is refused when it is parsed.
 *
 * row-filter-1  A value of the input is compared as it is: no text of it becomes a part of the condition.
 * row-filter-2  Only values of the same type are ordered; a row without the column is selected by `= null` alone.
 */
import { TrihandError } from './errors.ts'
import { at, isJsonRecord, type Json } from './json.ts'

type Operator = '=' | '!=' | '<' | '<=' | '>' | '>='

type Operand = { readonly kind: 'value'; readonly value: Json } | { readonly kind: 'input'; readonly path: string }

export interface RowCondition {
  readonly column: string
  readonly operator: Operator | 'in'
  readonly operands: readonly Operand[]
}

export interface RowOrder {
  readonly column: string
  readonly isDown: boolean
}

/** A row and the key that it is stored under. */
export interface KeyedRow {
  readonly key: string
  readonly value: Json
}

const CONDITION = /^(?:[A-Za-z_]\w*\.)?([A-Za-z_]\w*)\s*(=|!=|<>|<=|>=|<|>|\bin\b)\s*(.+)$/is
const NUMBER = /^-?\d+(\.\d+)?$/
const PATH = /^(?:\{\{\s*|:)?(?:payload\.|input\.)?([A-Za-z_]\w*(?:\.\w+)*)\s*(?:\}\})?$/
const QUOTED = /^'((?:[^']|'')*)'$|^"([^"]*)"$/
const WORDS: ReadonlyMap<string, Json> = new Map<string, Json>([
  ['true', true],
  ['false', false],
  ['null', null],
])

const refused = (text: string): TrihandError =>
  new TrihandError(
    'CONDITION_UNSUPPORTED',
    `"${text}"; write <column> = <value>, with = != < <= > >= or IN (…), joined by AND`,
  )

/** Splits at a separator outside of quotes and parentheses; the pattern captures the separator, so that joined parts keep their text. */
const split = (text: string, separator: RegExp): readonly string[] => {
  const parts: string[] = []
  let held = ''
  for (const [index, piece] of text.split(separator).entries()) {
    const isSeparator = index % 2 === 1
    const isWhole = (held.match(/'/g) ?? []).length % 2 === 0 && !/\([^)]*$/.test(held)
    if (isSeparator && isWhole) {
      parts.push(held.trim())
      held = ''
    } else held += piece
  }
  return [...parts, held.trim()]
}

const operandOf = (given: string, whole: string): Operand => {
  const text = given.trim()
  const quoted = QUOTED.exec(text)
  if (quoted !== null) return { kind: 'value', value: quoted[1]?.replaceAll("''", "'") ?? quoted[2] ?? '' }
  if (NUMBER.test(text)) return { kind: 'value', value: Number(text) }
  const word = WORDS.get(text.toLowerCase())
  if (word !== undefined) return { kind: 'value', value: word }
  const path = PATH.exec(text)?.[1]
  if (path === undefined) throw refused(whole)
  return { kind: 'input', path }
}

const conditionOf = (text: string): RowCondition => {
  const [, column = '', sign = '', rest = ''] = CONDITION.exec(text) ?? []
  if (column === '') throw refused(text)
  if (sign.toLowerCase() !== 'in')
    return { column, operator: (sign === '<>' ? '!=' : sign) as Operator, operands: [operandOf(rest, text)] }
  const list = /^\((.*)\)$/s.exec(rest.trim())?.[1]
  if (list === undefined || list.trim() === '') throw refused(text)
  return { column, operator: 'in', operands: split(list, /(,)/).map((one) => operandOf(one, text)) }
}

/** A `where` that is only the name of an input field selects the row that is stored under the field's value. */
export const isFieldName = (where: string): boolean => /^[A-Za-z_]\w*$/.test(where)

export const parseWhere = (text: string): readonly RowCondition[] => split(text, /(\s+and\s+)/i).map(conditionOf)

export const parseOrder = (text: string): readonly RowOrder[] =>
  text.split(',').map((part) => {
    const [, column, direction = 'asc'] =
      /^\s*(?:[A-Za-z_]\w*\.)?([A-Za-z_]\w*)(?:\s+(asc|desc))?\s*$/i.exec(part) ?? []
    if (column === undefined)
      throw new TrihandError('CONDITION_UNSUPPORTED', `"${part.trim()}"; write <column> [asc|desc]`)
    return { column, isDown: direction.toLowerCase() === 'desc' }
  })

/** A row without an `id` member has its key as id. */
const cell = ({ key, value }: KeyedRow, column: string): Json => {
  const own = isJsonRecord(value) ? value[column] : undefined
  return own ?? (column === 'id' ? key : null)
}

const isSame = (a: Json, b: Json): boolean => {
  if (a === null || b === null || typeof a === 'object' || typeof b === 'object') return a === b
  // A key is text; a number in an event means the same key.
  return (
    a === b || (typeof a !== typeof b && typeof a !== 'boolean' && typeof b !== 'boolean' && String(a) === String(b))
  )
}

/** Null: the two values have no order. */
const order = (a: Json, b: Json): number | null => {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  if (typeof a !== 'string' || typeof b !== 'string') return null
  return a === b ? 0 : a < b ? -1 : 1
}

const holds = (found: Json, operator: Operator | 'in', values: readonly Json[]): boolean => {
  const [value = null] = values
  if (operator === 'in') return values.some((one) => isSame(found, one))
  if (operator === '=') return isSame(found, value)
  if (operator === '!=') return !isSame(found, value)
  const by = order(found, value)
  if (by === null) return false
  if (operator === '<') return by < 0
  if (operator === '<=') return by <= 0
  return operator === '>' ? by > 0 : by >= 0
}

/** row-filter-1. Throws if the input lacks the value: a missing value must never select everything. */
const bound = (operand: Operand, input: Json): Json => {
  if (operand.kind === 'value') return operand.value
  const value = at(input, operand.path)
  if (value === undefined || value === null)
    throw new TrihandError('CONTEXT_AMBIGUOUS', `rows are selected by ${operand.path}, which the input does not have`)
  return value
}

/** Binds the conditions to this input and returns a test of rows. */
export const rowTest = (conditions: readonly RowCondition[], input: Json): ((row: KeyedRow) => boolean) => {
  const tests = conditions.map(({ operands, ...rest }) => ({
    ...rest,
    values: operands.map((one) => bound(one, input)),
  }))
  return (row) => tests.every(({ column, operator, values }) => holds(cell(row, column), operator, values))
}

const isScalar = (value: Json): boolean => value !== null && typeof value !== 'object'

/** Without a condition: compares every field of the input that some row has too. Null: no such field, so the rows are not determined. */
export const fieldTest = (rows: readonly KeyedRow[], input: Json): ((row: KeyedRow) => boolean) | null => {
  const fields = isJsonRecord(input) ? Object.entries(input).filter(([, value]) => isScalar(value)) : []
  const shared = fields.filter(([name]) => rows.some(({ value }) => isJsonRecord(value) && value[name] !== undefined))
  return shared.length === 0 ? null : (row) => shared.every(([name, value]) => isSame(cell(row, name), value))
}

/** Rows that have no order among each other keep the order of their keys. */
export const ordered = (rows: readonly KeyedRow[], by: readonly RowOrder[]): readonly KeyedRow[] =>
  [...rows].sort((a, b) => {
    for (const { column, isDown } of by) {
      const found = order(cell(a, column), cell(b, column)) ?? 0
      if (found !== 0) return isDown ? -found : found
    }
    return 0
  })
