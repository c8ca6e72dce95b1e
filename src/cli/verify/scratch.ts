/**
 * A database of the checker's own for what spans runs: temporary, on disk, gone with the connection.
 *
 * Keeps memory flat however large the ledger is. Never the ledger itself; opened with the first thing to keep.
 */
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'

/** An empty name makes SQLite use a nameless temporary file, to which it writes only what does not fit its cache. */
const NAMELESS = ''

export class Scratch {
  #db: DatabaseSyncInstance | null = null

  /** The database with this part of a schema in it. */
  open(schema: string): DatabaseSyncInstance {
    if (this.#db === null) {
      this.#db = new DatabaseSync(NAMELESS)
      this.#db.exec('pragma journal_mode = off; pragma synchronous = off; begin')
    }
    this.#db.exec(schema)
    return this.#db
  }

  close(): void {
    if (this.#db !== null) closeForGood(this.#db)
    this.#db = null
  }
}

/**
 * Closes a connection whose statements are still in memory. The driver cannot finalise them, so until they are collected the
 * connection lives on as a shadow: without its transaction, which would hold the ledger's log, and without its cache.
 */
export const closeForGood = (db: DatabaseSyncInstance): void => {
  if (db.isTransaction) db.exec('commit')
  db.exec('pragma shrink_memory')
  db.close()
}
