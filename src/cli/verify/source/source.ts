/**
 * The interface of a store to the checker: rows of a query in one read-only snapshot, and the dialects for ids and lists.
 *
 * Owns the border between the checks and a driver. Never writes, and never knows a table (tables.ts).
 */
export interface Source {
  readonly dialect: Dialect
  /** Rows as they arrive; the whole result is never in memory. `page`: how many rows a shared store sends at a time. */
  rows(sql: string, options?: RowOptions): AsyncIterable<object>
  close(): Promise<void>
}

export interface RowOptions {
  /** The values of $1, $2, … */
  readonly values?: readonly string[]
  readonly page?: number
}

export interface Dialect {
  /** The column of `stream` that facts and waits refer to. */
  readonly key: 'key' | 'id'
  /** Converts an id column to 32 hex digits, or null. */
  readonly hex: (column: string) => string
  /** Converts a text of 32 hex digits to an id; null if the text is not one. */
  readonly id: (text: string) => string
  /** A table with one column `value`: the members of a JSON list of texts. */
  readonly list: (parameter: string) => string
  /** The store's clock, in milliseconds. */
  readonly now: string
  /** The schema version since which the store lists model replies in a table; null: it finds them by an index, which is always consistent. */
  readonly listsModelCallsSince: number | null
}

/** The reference from facts and waits to a stream: a number in one dialect, a uuid in the other. */
export type Key = number | string

/** The ledger cannot be read, so nothing can be checked. */
export class UnreadableLedger extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'UnreadableLedger'
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Converts a failure while reading the ledger to the one error that callers of the checker know. */
export const unreadable = (what: string, error: unknown): UnreadableLedger =>
  error instanceof UnreadableLedger ? error : new UnreadableLedger(`cannot read ${what}: ${messageOf(error)}`, error)
