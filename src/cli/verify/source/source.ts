/**
 * What the checker needs of a store: rows of a query inside one read-only snapshot, and how the two dialects spell ids and lists.
 *
 * Owns the border between the checks and a driver. Never writes, and never knows a table (queries.ts).
 */
export interface Source {
  readonly dialect: Dialect
  /** Rows as they come; the whole answer is never in memory. `page`: how many a shared store sends at a time. */
  rows(sql: string, options?: RowOptions): AsyncIterable<object>
  close(): Promise<void>
}

export interface RowOptions {
  /** For $1, $2, … */
  readonly values?: readonly string[]
  readonly page?: number
}

export interface Dialect {
  /** The column of `stream` that facts and waits refer to. */
  readonly key: 'key' | 'id'
  /** 32 hex digits of an id column, or null. */
  readonly hex: (column: string) => string
  /** An id from the text of 32 hex digits; null if the text is none. */
  readonly id: (text: string) => string
  /** A table with one column `value`: the members of a JSON list of texts. */
  readonly list: (parameter: string) => string
  /** The store's clock, in milliseconds. */
  readonly now: string
  /** Since which version of the schema the store lists the replies of models; null: it finds them by an index, which cannot disagree. */
  readonly listsModelCallsSince: number | null
}

/** What facts and waits refer to a stream by: a number in one dialect, a uuid in the other. */
export type Key = number | string

/** The ledger cannot be read, so nothing can be said about it. */
export class UnreadableLedger extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'UnreadableLedger'
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** A failure while the ledger is read, as the one error that callers of the checker know. */
export const unreadable = (what: string, error: unknown): UnreadableLedger =>
  error instanceof UnreadableLedger ? error : new UnreadableLedger(`cannot read ${what}: ${messageOf(error)}`, error)
