/**
 * A Postgres ledger as a source: one connection, one REPEATABLE READ read-only transaction, cursors instead of whole results.
 *
 * Holds no lock that a writer waits for. Needs only the right to select.
 */
import pg from 'pg'
import { type Dialect, type RowOptions, type Source, UnreadableLedger, unreadable } from './source.ts'

const UUID = "'^[0-9a-f]{32}$'"

const POSTGRES: Dialect = {
  key: 'id',
  hex: (column) => `replace(${column}::text, '-', '')`,
  id: (text) => `(case when ${text} ~ ${UUID} then (${text})::uuid end)`,
  list: (parameter) => `json_array_elements_text(${parameter}::json)`,
  now: '(extract(epoch from now()) * 1000)::bigint',
  listsModelCallsSince: null,
}

const INT8 = 20
const CONNECT_TIMEOUT_MS = 5_000
/** Facts are mostly small; the largest inline ones are 64 KiB. */
const PAGE = 200

/** A check may take as long as it needs, but it does not wait for a change of the schema. */
const SETTINGS =
  "set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0; set local lock_timeout = '10s'"

const toSafeInteger = (text: string): number => {
  const value = Number(text)
  if (!Number.isSafeInteger(value))
    throw new UnreadableLedger(`the ledger has the number ${text}, which is not a safe integer`)
  return value
}

const connect = async (url: string, schema: string | undefined): Promise<pg.Client> => {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    types: {
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8 ? toSafeInteger : pg.types.getTypeParser(oid, format === 'binary' ? 'text' : format),
    },
  })
  // A broken connection is reported by the next query; without a listener it would end the process.
  client.on('error', () => {})
  await client.connect()
  await client.query('begin isolation level repeatable read read only')
  await client.query(SETTINGS)
  if (schema !== undefined) await client.query(`set local search_path to ${client.escapeIdentifier(schema)}`)
  return client
}

export const openPostgres = async (url: string, schema?: string): Promise<Source> => {
  const client = await connect(url, schema).catch((error: unknown) => {
    throw unreadable('the Postgres ledger', error)
  })
  let cursors = 0
  const pages = async function* (sql: string, { values = [], page = PAGE }: RowOptions) {
    const cursor = `verify_${++cursors}`
    await client.query(`declare ${cursor} no scroll cursor for ${sql}`, [...values])
    for (;;) {
      const { rows } = await client.query(`fetch ${page} from ${cursor}`)
      yield rows
      if (rows.length < page) break
    }
    await client.query(`close ${cursor}`)
  }
  return {
    dialect: POSTGRES,
    async *rows(sql: string, options: RowOptions = {}) {
      try {
        for await (const rows of pages(sql, options)) for (const row of rows) yield row
      } catch (error) {
        throw unreadable('the Postgres ledger', error)
      }
    },
    async close() {
      await client.end()
    },
  }
}
