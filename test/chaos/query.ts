/**
 * A question to a ledger's tables, asked of the driver: the judge must not share the judged one's bugs.
 *
 * Owns no question. Reads only.
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
