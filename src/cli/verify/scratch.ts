/**
 * A database of the checker's own for what spans runs: temporary, on disk, gone with the connection.
 *
 * Keeps memory flat however large the ledger is. Never the ledger itself.
 */
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'

/** An empty name makes SQLite use a nameless temporary file that spills only what does not fit its cache. */
const NAMELESS = ''

export const openScratch = (schema: string): DatabaseSyncInstance => {
  const db = new DatabaseSync(NAMELESS)
  db.exec(`pragma journal_mode = off; pragma synchronous = off; ${schema}; begin`)
  return db
}
