/**
 * The checker's own database for data that spans runs: temporary, on disk, deleted with the connection.
 *
 * Keeps memory use constant however large the ledger is. Never the ledger itself; opened when it is first needed.
 */
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'

/** An empty name makes SQLite use an unnamed temporary file, to which it writes only what exceeds its cache. */
const NAMELESS = ''

export class Scratch {
  #db: DatabaseSyncInstance | null = null

  /** Returns the database after adding this part of the schema. */
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
 * Closes a connection whose statements are still in memory. The driver cannot finalise them, so until they are garbage-collected the
 * connection stays open in the background: without its transaction, which would hold the ledger's log, and without its cache.
 */
export const closeForGood = (db: DatabaseSyncInstance): void => {
  if (db.isTransaction) db.exec('commit')
  db.exec('pragma shrink_memory')
  db.close()
}
