/**
 * The outbox in a user's SQLite file: one table of ours, and a trigger per watched table and kind of change.
 *
 * Owns that SQL. The file is the user's: nothing else in it is touched, no setting of it is changed, and a statement waits for the
 * user's own transactions. Blobs are written in hex, because JSON has none.
 */
import { existsSync } from 'node:fs'
import type { TableChange } from '#model/event/watch.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Outbox, OutboxRow, OutboxWatch } from '#ports/outbox.ts'
import { type Database, LIMIT, loadDriver } from './driver.ts'

const TABLE = 'trihand_outbox'
const BUSY_MS = 5_000
const CREATE = `create table if not exists ${TABLE} (seq integer primary key autoincrement, id text not null unique,
  watch text not null, change text not null, row_json text not null, before_json text, at integer not null)`
const NOW = `cast((julianday('now') - 2440587.5) * 86400000 as integer)`

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`
const triggerName = ({ key }: OutboxWatch, change: TableChange): string => `trihand_${key}_${change}`

const rowText = (columns: readonly string[], which: 'new' | 'old'): string => {
  const members = columns.map((column) => {
    const value = `${which}.${quoted(column)}`
    return `${literal(column)}, case typeof(${value}) when 'blob' then lower(hex(${value})) else ${value} end`
  })
  return `json_object(${members.join(', ')})`
}

const triggerText = (watch: OutboxWatch, change: TableChange, columns: readonly string[]): string => {
  const row = rowText(columns, change === 'delete' ? 'old' : 'new')
  const before = change === 'update' ? rowText(columns, 'old') : 'null'
  return `create trigger ${quoted(triggerName(watch, change))} after ${change} on ${quoted(watch.table)} begin
    insert into ${TABLE} (id, watch, change, row_json, before_json, at)
    values (lower(hex(randomblob(16))), ${literal(watch.key)}, ${literal(change)}, ${row}, ${before}, ${NOW}); end`
}

const CHANGES: readonly TableChange[] = ['insert', 'update', 'delete']

class SqliteOutbox implements Outbox {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  async install(watch: OutboxWatch): Promise<void> {
    this.#transaction(() => {
      const columns = this.#columns(watch.table)
      this.#db.exec(CREATE)
      this.#drop(watch)
      for (const change of watch.on) this.#db.exec(triggerText(watch, change, columns))
    })
  }

  async remove(watch: OutboxWatch): Promise<void> {
    this.#transaction(() => {
      this.#drop(watch)
      if (!this.#hasTable()) return
      this.#db.prepare(`delete from ${TABLE} where watch = ?`).run(watch.key)
      const isUsed = this.#db.prepare(`select 1 from sqlite_master where type = 'trigger' and sql like ?`)
      if (isUsed.get(`%${TABLE}%`) === undefined) this.#db.exec(`drop table ${TABLE}`)
    })
  }

  async isInstalled(watch: OutboxWatch): Promise<boolean> {
    return this.#guarded(() => {
      const found = this.#db.prepare(`select 1 from sqlite_master where type = 'trigger' and name = ?`)
      return watch.on.every((change) => found.get(triggerName(watch, change)) !== undefined)
    })
  }

  async read(watch: OutboxWatch, limit: number): Promise<readonly OutboxRow[]> {
    return this.#guarded(() =>
      this.#db
        .prepare(`select id, change, row_json, before_json, at from ${TABLE} where watch = ? order by seq ${LIMIT}`)
        .all(watch.key, limit)
        .map((row) => ({
          id: String(row['id']),
          change: row['change'] as TableChange,
          row: JSON.parse(String(row['row_json'])) as Json,
          before: row['before_json'] == null ? null : (JSON.parse(String(row['before_json'])) as Json),
          at: Number(row['at']),
        })),
    )
  }

  async forget(ids: readonly string[]): Promise<void> {
    this.#transaction(() => {
      const drop = this.#db.prepare(`delete from ${TABLE} where id = ?`)
      for (const id of ids) drop.run(id)
    })
  }

  async close(): Promise<void> {
    this.#db.close()
  }

  #drop(watch: OutboxWatch): void {
    for (const change of CHANGES) this.#db.exec(`drop trigger if exists ${quoted(triggerName(watch, change))}`)
  }

  #hasTable(): boolean {
    return (
      this.#db.prepare(`select 1 from sqlite_master where type = 'table' and name = '${TABLE}'`).get() !== undefined
    )
  }

  #columns(table: string): readonly string[] {
    const columns = this.#db.prepare('select name from pragma_table_info(?)').all(table)
    if (columns.length === 0) throw new TrihandError('CONFIG_INVALID', `the database has no table ${table}`)
    return columns.map((column) => String(column['name']))
  }

  #transaction(work: () => void): void {
    this.#guarded(() => {
      this.#db.exec('begin immediate')
      try {
        work()
        this.#db.exec('commit')
      } catch (error) {
        if (this.#db.isTransaction) this.#db.exec('rollback')
        throw error
      }
    })
  }

  #guarded<Result>(work: () => Result): Result {
    try {
      return work()
    } catch (error) {
      if (error instanceof TrihandError) throw error
      throw new TrihandError('TABLE_UNREACHABLE', error instanceof Error ? error.message : String(error), {
        cause: error,
      })
    }
  }
}

export const openSqliteOutbox = async (file: string): Promise<Outbox> => {
  if (!existsSync(file)) throw new TrihandError('CONFIG_INVALID', `there is no database ${file}`)
  const driver = await loadDriver()
  return new SqliteOutbox(new driver(file, { timeout: BUSY_MS }))
}
