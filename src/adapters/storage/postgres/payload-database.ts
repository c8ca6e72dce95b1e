/** The tables of a ledger in Postgres for `trihand rekey`, while no process works with it. */
import type { PayloadDatabase, PayloadRow } from '#adapters/storage/migrations/payload-tables.ts'
import { Database, type Statement } from './pool.ts'

/** The limit is longer than a worker may be silent before it loses its runs. */
const LIVING: Statement = {
  name: 'living',
  text: 'select id from worker where beat_at >= trihand_now() - 15000 order by id',
}

export const openPostgresPayloads = async (url: string, schema: string | undefined): Promise<PayloadDatabase> => {
  const database = new Database({ url, schema: schema ?? null, max: 1 })
  const statements = new Map<string, Statement>()
  /** Numbers the parameters: `$1`, `$2`, … */
  const numbered = (sql: string): Statement => {
    const known = statements.get(sql)
    if (known !== undefined) return known
    let count = 0
    const statement = { name: `payloads_${statements.size}`, text: sql.replace(/\?/g, () => `$${++count}`) }
    statements.set(sql, statement)
    return statement
  }
  return {
    dialect: 'postgres',
    rows: (sql, values) => database.query<PayloadRow>(numbered(sql), values),
    write: async (sql, values) => {
      const statement = numbered(sql)
      await database.transaction(values.map((one) => ({ statement, values: one })))
    },
    living: async () => (await database.query<{ id: string }>(LIVING, [])).map(({ id }) => id),
    // Autovacuum does this.
    clean: async () => {},
    close: () => database.close(),
  }
}
