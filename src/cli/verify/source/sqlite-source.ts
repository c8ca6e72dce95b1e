/**
 * A SQLite ledger as a source: opened read-only, with all reads in one transaction, so that a server can keep writing.
 *
 * While it is open the server's WAL cannot be reset and grows; it shrinks to its usual size after the check.
 */
import { existsSync } from 'node:fs'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { closeForGood } from '#cli/verify/scratch.ts'
import { type Dialect, type RowOptions, type Source, UnreadableLedger, unreadable } from './source.ts'

const SQLITE: Dialect = {
  key: 'key',
  // hex() returns an empty text for null.
  hex: (column) => `nullif(lower(hex(${column})), '')`,
  id: (text) => `unhex(${text})`,
  list: (parameter) => `(select value from json_each(${parameter}))`,
  now: "cast(unixepoch('subsec') * 1000 as integer)",
  listsModelCallsSince: 11,
}

const BUSY_TIMEOUT_MS = 5_000

const named = (values: readonly string[]): Record<string, string> =>
  Object.fromEntries(values.map((value, i) => [`$${i + 1}`, value]))

const open = (file: string): DatabaseSyncInstance => {
  // SQLite itself only reports "unable to open database file".
  if (!existsSync(file)) throw new UnreadableLedger(`cannot read ${file}: the file does not exist`)
  const db = new DatabaseSync(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
  try {
    db.exec('begin')
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

export const openSqlite = (file: string): Source => {
  let db: DatabaseSyncInstance
  try {
    db = open(file)
  } catch (error) {
    throw unreadable(file, error)
  }
  // The driver's iterator does not keep its statement: if that is garbage-collected while its rows are read, the reading or the process
  // ends.
  const held = new Set<unknown>()
  return {
    dialect: SQLITE,
    async *rows(sql: string, { values = [] }: RowOptions = {}) {
      try {
        const statement = db.prepare(sql)
        held.add(statement)
        for (const row of statement.iterate(named(values))) yield row
        held.delete(statement)
      } catch (error) {
        throw unreadable(file, error)
      }
    },
    async close() {
      closeForGood(db)
    },
  }
}
