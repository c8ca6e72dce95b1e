/**
 * The key under which an event is found by a value that it holds (ledger-11): short, and made of type, path and value.
 *
 * Owns that key, which is stored in the table `event_value` and never changes. A value may be long and of any type; its key is neither.
 *
 * values-1  Every event of a type after the `since` of its path is listed in `event_value`; one before it may be.
 */
import { hash } from 'node:crypto'
import { at, canonical, type Json } from '#model/kernel/json.ts'

const KEY_BYTES = 16

/** The canonical value at a path; null: the event has none there. */
export const valueAt = (data: Json, path: string): string | null => {
  const value = at(data, path)
  return value === undefined ? null : canonical(value)
}

export interface ValuePlace {
  readonly type: string
  readonly path: string
  readonly value: string
}

export const valueKey = ({ type, path, value }: ValuePlace): Uint8Array =>
  hash('sha256', JSON.stringify([type, path, value]), 'buffer').subarray(0, KEY_BYTES)

/** How many old events one transaction lists: few enough that other writers do not wait long. */
export const LISTED_AT_ONCE = 500
