/**
 * The tables of a ledger file for `trihand rekey`. The caller owns the file (open.ts) and keeps others from working with it.
 *
 * `clean` rewrites the file, so that no old payload stays in free pages.
 */
import type { PayloadDatabase, PayloadRow, PayloadValue } from '#adapters/storage/migrations/payload-tables.ts'
import { loadDriver } from './driver.ts'
import { openForWriting } from './settings.ts'

export const openSqlitePayloads = async (file: string): Promise<PayloadDatabase> => {
  const db = openForWriting(await loadDriver(), file, 'full')
  return {
    dialect: 'sqlite',
    rows: async (sql, values) => db.prepare(sql).all(...values) as readonly unknown[] as readonly PayloadRow[],
    write: async (sql: string, values: readonly (readonly PayloadValue[])[]) => {
      const statement = db.prepare(sql)
      db.exec('begin immediate')
      try {
        for (const one of values) statement.run(...one)
        db.exec('commit')
      } catch (error) {
        db.exec('rollback')
        throw error
      }
    },
    // The owner's lock proves that there are none.
    living: async () => [],
    clean: async () => db.exec('vacuum'),
    close: async () => db.close(),
  }
}
