/**
 * A filter that a person saves under a name: the parameters of a list on one of the screens.
 *
 * Owns what a filter may contain. Its owner and its storage are the business of engine/services/filters.ts.
 */
import { type Instant, isPlainText } from './ids.ts'
import { isJsonRecord, type Json } from './json.ts'
import { type Refusal, refuse } from './machine.ts'

export const FILTER_SCREENS = ['runs', 'inbox'] as const

/** The input of a caller, not yet validated. */
export interface FilterIntent {
  readonly name: string
  readonly screen: string
  readonly terms: Json
}

export interface FilterSpec {
  readonly name: string
  readonly screen: (typeof FILTER_SCREENS)[number]
  /** Each term is a parameter of the list. */
  readonly terms: { readonly [term: string]: string }
}

export interface SavedFilter extends FilterSpec {
  readonly id: string
  /** How often it was saved. */
  readonly version: number
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

export const MAX_FILTERS = 100
const MAX_NAME = 80
const MAX_TERMS = 20
const MAX_VALUE = 255
const TERM = /^[a-z_]{1,32}$/

/** The problem with the terms; null: none. */
const misfit = (terms: readonly (readonly [string, Json])[]): string | null => {
  if (terms.length === 0 || terms.length > MAX_TERMS)
    return `terms has ${terms.length} entries; expected 1 to ${MAX_TERMS}`
  const [badName] = terms.find(([name]) => !TERM.test(name)) ?? []
  if (badName !== undefined) return `"${badName}" is not a term; expected lower-case letters and _`
  const [badValue] = terms.find(([, value]) => typeof value !== 'string' || !isPlainText(value, MAX_VALUE)) ?? []
  return badValue === undefined ? null : `terms.${badValue} must be a text of 1 to ${MAX_VALUE} plain characters`
}

export const filterSpec = ({ name, screen, terms }: FilterIntent): FilterSpec | Refusal => {
  const known = FILTER_SCREENS.find((word) => word === screen)
  if (!isPlainText(name, MAX_NAME))
    return refuse('INPUT_INVALID', `name must have 1 to ${MAX_NAME} characters and no control characters`)
  if (known === undefined)
    return refuse('INPUT_INVALID', `screen is "${screen}"; expected one of ${FILTER_SCREENS.join(', ')}`)
  if (!isJsonRecord(terms)) return refuse('INPUT_INVALID', 'terms must be an object: {"status": "failed"}')
  const problem = misfit(Object.entries(terms))
  if (problem !== null) return refuse('INPUT_INVALID', problem)
  return { name, screen: known, terms: terms as FilterSpec['terms'] }
}

export const toFilterJson = (filter: SavedFilter): Json => ({ ...filter, terms: { ...filter.terms } })

/** Reads what `toFilterJson` wrote. Null: there is no filter. */
export const fromFilterJson = (value: Json | null): SavedFilter | null =>
  isJsonRecord(value) && isJsonRecord(value['terms']) ? (value as unknown as SavedFilter) : null
