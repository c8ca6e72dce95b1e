/**
 * Schemas for tests on one shared cluster: a new one for a file, or a pool of schemas that are emptied and reused.
 *
 * Creating a schema with all its tables costs more than most tests; emptying small tables costs next to nothing.
 */
import { randomBytes } from 'node:crypto'
import pg from 'pg'

export interface FreshSchema {
  /** Names the schema as the connection's search_path. */
  readonly url: string
  readonly schema: string
  drop(): Promise<void>
}

/** Runs one query on a separate connection. */
export const ask = async (url: string, sql: string): Promise<readonly Record<string, unknown>[]> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}

/** An empty schema, so that files can run in parallel on one cluster. */
export const freshSchema = async (url: string): Promise<FreshSchema> => {
  const schema = `test_${randomBytes(6).toString('hex')}`
  await ask(url, `create schema ${schema}`)
  const named = new URL(url)
  // The application's name distinguishes a test's connections from those of other files.
  named.search = `application_name=${schema}&options=${encodeURIComponent(`-c search_path=${schema}`)}`
  const drop = async (): Promise<void> => {
    await ask(url, `drop schema if exists ${schema} cascade`)
  }
  return { url: named.href, schema, drop }
}

const WIPE = `do $$ declare name text; begin
  for name in select tablename from pg_tables where schemaname = current_schema() and tablename <> 'trihand_migration' loop
    execute format('delete from %I', name);
  end loop;
end $$`

/** Returns schemas with empty tables; they may exist already. */
export class SchemaShelf {
  readonly #url: string
  readonly #all: FreshSchema[] = []
  readonly #free: FreshSchema[] = []

  constructor(url: string) {
    this.#url = url
  }

  async take(): Promise<FreshSchema> {
    const free = this.#free.pop()
    if (free !== undefined) return free
    const made = await freshSchema(this.#url)
    this.#all.push(made)
    return made
  }

  /** The schema must no longer be in use. */
  async giveBack(schema: FreshSchema): Promise<void> {
    await ask(schema.url, WIPE)
    this.#free.push(schema)
  }

  async dropAll(): Promise<void> {
    for (const schema of this.#all) await schema.drop()
  }
}
