/**
 * The outbox in a user's Postgres database: one table and one function of ours in the watched table's schema, and a trigger per
 * kind of change.
 *
 * Owns that SQL. The function runs with the permissions of the role that installed it, so that other users of the table need none on
 * the outbox. Nothing else in the database is touched.
 */
import pg from 'pg'
import type { TableChange } from '#model/event/watch.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Outbox, OutboxRow, OutboxWatch } from '#ports/outbox.ts'

const OUTBOX = 'trihand_outbox'
const CHANGES: readonly TableChange[] = ['insert', 'update', 'delete']
const MAX_CONNECTIONS = 2

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
const triggerName = ({ key }: OutboxWatch, change: TableChange): string => `trihand_${key}_${change}`

/** The watched table with its schema, as the server finds it. */
interface Place {
  readonly schema: string
  readonly table: string
}

const installText = (schema: string): string => {
  const home = quoted(schema)
  return `create table if not exists ${home}.${OUTBOX} (seq bigint generated always as identity primary key,
      id uuid not null unique default gen_random_uuid(), watch text not null, change text not null,
      row_json text not null, before_json text, at timestamptz not null default now());
    create or replace function ${home}.${OUTBOX}_write() returns trigger language plpgsql security definer
      set search_path = ${home}, pg_temp as $body$
    begin
      insert into ${home}.${OUTBOX} (watch, change, row_json, before_json) values (tg_argv[0], lower(tg_op),
        case when tg_op = 'DELETE' then to_jsonb(old)::text else to_jsonb(new)::text end,
        case when tg_op = 'UPDATE' then to_jsonb(old)::text end);
      return null;
    end $body$`
}

class PostgresOutbox implements Outbox {
  readonly #pool: pg.Pool
  #home: string | null = null

  constructor(url: string) {
    this.#pool = new pg.Pool({ connectionString: url, max: MAX_CONNECTIONS, connectionTimeoutMillis: 5_000 })
    // An idle connection that breaks is simply removed; the user of a busy one gets the error from its query.
    this.#pool.on('error', () => undefined)
  }

  async install(watch: OutboxWatch): Promise<void> {
    await this.#transaction(async (client) => {
      const { schema, table } = await this.#find(client, watch)
      // Two concurrent installers would both find nothing and both create it.
      await client.query(`select pg_advisory_xact_lock(hashtext('${OUTBOX}'))`)
      await client.query(installText(schema))
      await this.#drop(client, watch, { schema, table })
      for (const change of watch.on)
        await client.query(`create trigger ${quoted(triggerName(watch, change))} after ${change}
          on ${quoted(schema)}.${quoted(table)} for each row execute function ${quoted(schema)}.${OUTBOX}_write('${watch.key}')`)
    })
  }

  async remove(watch: OutboxWatch): Promise<void> {
    await this.#transaction(async (client) => {
      const place = await this.#find(client, watch)
      const home = quoted(place.schema)
      await this.#drop(client, watch, place)
      const { rows: made } = await client.query(`select to_regclass($1) as outbox`, [`${home}.${OUTBOX}`])
      if (made[0]?.outbox == null) return
      await client.query(`delete from ${home}.${OUTBOX} where watch = $1`, [watch.key])
      const { rowCount } = await client.query(
        `select 1 from pg_trigger where tgfoid = to_regproc($1) and not tgisinternal limit 1`,
        [`${home}.${OUTBOX}_write`],
      )
      if (rowCount === 0) await client.query(`drop function ${home}.${OUTBOX}_write(); drop table ${home}.${OUTBOX}`)
    })
  }

  async isInstalled(watch: OutboxWatch): Promise<boolean> {
    const names = watch.on.map((change) => triggerName(watch, change))
    return this.#guarded(async () => {
      const { rows } = await this.#pool.query(
        'select count(*)::int as count from pg_trigger where tgname = any($1) and tgrelid = to_regclass($2)',
        [names, watch.table.split('.').map(quoted).join('.')],
      )
      return rows[0]?.count === names.length
    })
  }

  async read(watch: OutboxWatch, limit: number): Promise<readonly OutboxRow[]> {
    return this.#guarded(async () => {
      const { rows } = await this.#pool.query(
        `select id::text, change, row_json, before_json, floor(extract(epoch from at) * 1000)::float8 as at
         from ${await this.#outbox(watch)} where watch = $1 order by seq limit $2`,
        [watch.key, limit],
      )
      return rows.map((row) => ({
        id: String(row.id),
        change: row.change as TableChange,
        row: JSON.parse(row.row_json) as Json,
        before: row.before_json === null ? null : (JSON.parse(row.before_json) as Json),
        at: Number(row.at),
      }))
    })
  }

  async forget(ids: readonly string[]): Promise<void> {
    await this.#guarded(async () => {
      await this.#pool.query(`delete from ${this.#home ?? OUTBOX} where id = any($1::uuid[])`, [ids])
    })
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  async #outbox(watch: OutboxWatch): Promise<string> {
    this.#home ??= `${quoted((await this.#find(this.#pool, watch)).schema)}.${OUTBOX}`
    return this.#home
  }

  async #find(client: pg.Pool | pg.PoolClient, { table }: OutboxWatch): Promise<Place> {
    const name = table.split('.').map(quoted).join('.')
    const { rows } = await client.query(
      `select n.nspname as schema, c.relname as table from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.oid = to_regclass($1) and c.relkind in ('r', 'p')`,
      [name],
    )
    if (rows[0] === undefined) throw new TrihandError('CONFIG_INVALID', `the database has no table ${table}`)
    return rows[0] as Place
  }

  async #drop(client: pg.PoolClient, watch: OutboxWatch, { schema, table }: Place): Promise<void> {
    for (const change of CHANGES)
      await client.query(
        `drop trigger if exists ${quoted(triggerName(watch, change))} on ${quoted(schema)}.${quoted(table)}`,
      )
  }

  #transaction(work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
    return this.#guarded(async () => {
      const client = await this.#pool.connect()
      let isBroken = true
      try {
        await client.query('begin')
        await work(client)
        await client.query('commit')
        isBroken = false
      } finally {
        // A connection in a failed transaction is not reused: the server rolls back when it is closed.
        client.release(isBroken)
      }
    })
  }

  async #guarded<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof TrihandError) throw error
      throw new TrihandError('TABLE_UNREACHABLE', error instanceof Error ? error.message : String(error), {
        cause: error,
      })
    }
  }
}

export const openPostgresOutbox = async (url: string): Promise<Outbox> => new PostgresOutbox(url)
