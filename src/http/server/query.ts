/**
 * Query parameters: known ones, checked; limits and cursors of lists.
 *
 * Owns the valid values of parameters. Never ignores an unknown one: a misspelt filter would show everything.
 */
import type { Context } from 'hono'
import { TrihandError } from '#model/kernel/errors.ts'
import { nearest } from '#model/kernel/nearest.ts'

export type Query = ReadonlyMap<string, string>

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 200

export const readQuery = (context: Context, known: readonly string[]): Query => {
  const query = new Map<string, string>()
  for (const [name, value] of new URL(context.req.url).searchParams) {
    if (!known.includes(name)) {
      const choice = known.length === 0 ? 'this route has none' : `expected ${known.join(', ')}`
      const near = nearest(name, known)
      const meant = near === null ? '' : `did you mean ${near}? `
      throw new TrihandError('QUERY_UNKNOWN', `unknown parameter ${name}; ${meant}${choice}`)
    }
    if (query.has(name)) throw new TrihandError('QUERY_UNKNOWN', `the parameter ${name} is given twice`)
    query.set(name, value)
  }
  return query
}

export const limitOf = (query: Query): number => {
  const text = query.get('limit') ?? String(DEFAULT_LIMIT)
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > MAX_LIMIT)
    throw new TrihandError('QUERY_UNKNOWN', `limit=${text}; expected 1 to ${MAX_LIMIT}`)
  return limit
}

/** One of the allowed values, or null if the parameter is not given. */
export const choiceOf = <Word extends string>(query: Query, name: string, words: readonly Word[]): Word | null => {
  const text = query.get(name)
  if (text === undefined) return null
  const word = words.find((candidate) => candidate === text)
  if (word === undefined)
    throw new TrihandError('QUERY_UNKNOWN', `${name}=${text}; expected one of ${words.join(', ')}`)
  return word
}

/** A numeric cursor: the position of the last item of the page before. */
export const positionOf = (query: Query): number | null => {
  const text = query.get('cursor')
  if (text === undefined) return null
  if (!/^\d{1,15}$/.test(text)) throw badCursor(text)
  return Number(text)
}

export const badCursor = (text: string): TrihandError =>
  new TrihandError('CURSOR_INVALID', `"${text}" is not a cursor of this list`)

export interface Page<Item> {
  readonly items: readonly Item[]
  readonly next_cursor: string | null
}

/** Builds a page from rows that were read with one more than the limit: the surplus row shows that there are more. */
export const pageOf = <Row, Item>(
  rows: readonly Row[],
  limit: number,
  shape: { readonly item: (row: Row) => Item; readonly cursor: (last: Row) => string },
): Page<Item> => {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map(shape.item),
    next_cursor: rows.length > limit && last !== undefined ? shape.cursor(last) : null,
  }
}
