/**
 * Queries a ledger's tables through the driver: the judge must not share the bugs of the code under test.
 *
 * Owns no query. Reads only.
 */
import { DatabaseSync } from '@photostructure/sqlite'

export type Row = Readonly<Record<string, unknown>>
export type Query = (sql: string) => Promise<readonly Row[]>

export const queryFile =
  (file: string): Query =>
  async (sql) => {
    const db = new DatabaseSync(file, { readOnly: true })
    try {
      return db.prepare(sql).all() as readonly Row[]
    } finally {
      db.close()
    }
  }
