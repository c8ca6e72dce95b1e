/**
 * Rows of a table for an agent's workspace: those that its `where` selects, or else those that the input refers to.
 *
 * Owns that order and how much of a table is read for it. Never returns a whole table because nothing was specified.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import { isJsonRecord, type Json } from '#model/kernel/json.ts'
import {
  fieldTest,
  isFieldName,
  type KeyedRow,
  ordered,
  parseOrder,
  parseWhere,
  rowTest,
} from '#model/kernel/row-filter.ts'
import type { RowQuery } from './deps.ts'

const PAGE = 500
const MAX_READ = 50_000

/** `leads` → `lead_id`, `companies` → `company_id`. */
const referenceTo = (table: string): string => `${table.replace(/ies$/, 'y').replace(/(?<!s)s$/, '')}_id`

const keyIn = (input: Json, field: string): string | null => {
  const value = isJsonRecord(input) ? input[field] : undefined
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null
}

const allRows = async ({ table, documents }: RowQuery): Promise<readonly KeyedRow[]> => {
  const rows: KeyedRow[] = []
  for (;;) {
    const page = await documents.documents(table, rows.at(-1)?.key ?? null, PAGE)
    rows.push(...page)
    if (page.length < PAGE) return rows
    if (rows.length >= MAX_READ)
      throw new TrihandError('CONTEXT_AMBIGUOUS', `${table} has more than ${MAX_READ} rows; select them by a key`)
  }
}

/** The row under a key; null: no key is given. */
const byKey = async ({ table, where, input, documents }: RowQuery): Promise<readonly Json[] | null> => {
  if (where !== null && !isFieldName(where)) return null
  const field = where ?? referenceTo(table)
  const key = keyIn(input, field)
  if (key === null && where !== null)
    throw new TrihandError(
      'CONTEXT_AMBIGUOUS',
      `rows of ${table} are selected by ${field}, which the input does not have`,
    )
  if (key === null) return null
  const row = await documents.document(table, key)
  return row === null ? [] : [row]
}

const byContent = async (query: RowQuery): Promise<readonly Json[]> => {
  const { table, where, orderBy, limit, input } = query
  // Parsed before anything is read, so that a value missing from the input is reported as such.
  const said = where === null ? null : rowTest(parseWhere(where), input)
  const rows = await allRows(query)
  const test = said ?? fieldTest(rows, input)
  if (test === null)
    throw new TrihandError(
      'CONTEXT_AMBIGUOUS',
      `the rows of ${table} are not selected: the input has neither ${referenceTo(table)} nor one of their fields`,
    )
  const found = rows.filter(test)
  return (orderBy === null ? found : ordered(found, parseOrder(orderBy))).slice(0, limit).map(({ value }) => value)
}

export const selectRows = async (query: RowQuery): Promise<readonly Json[]> =>
  (await byKey(query)) ?? (await byContent(query))
