/**
 * Opens a ledger in a Postgres database: connections that are checked for durability, then the schema, then the parts on top.
 *
 * Owns that order; a failure at any step closes what was opened before it.
 */
import { createHash } from 'node:crypto'
import { MIGRATIONS } from '#adapters/storage/migrations/list.ts'
import type { Migration } from '#adapters/storage/migrations/migration.ts'
import { type AppliedMigration, type MigrationTarget, migrate } from '#adapters/storage/migrations/run.ts'
import { PostgresReader } from '#adapters/storage/postgres/read/reader.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Blobs } from '#ports/blobs.ts'
import type { ChangeFeed } from '#ports/change-feed.ts'
import type { Clock } from '#ports/clock.ts'
import type { Dispatcher } from '#ports/dispatcher.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { Reader } from '#ports/reader.ts'
import { PostgresChangeFeed } from './change-feed.ts'
import { ChangeHints } from './change-hints.ts'
import { PostgresDispatcher } from './dispatcher.ts'
import { isAlreadyThere, isMissingTable } from './errors.ts'
import { PostgresLedger } from './ledger.ts'
import { Database, type Statement } from './pool.ts'
import { Wire } from './wire.ts'

/*
 * Migrates the schema of this database; safe when many processes do it at once.
 * Owns the version table in this dialect. The order, and the handling of a newer ledger, are in migrations/run.ts.
 * Trap: `if not exists` is not safe in parallel here. The loser of that race gets a clash of names, which means that the object exists.
 */

const VERSION_TABLE = `create table if not exists trihand_migration
  (version integer primary key, name text not null, breaking boolean not null, applied_at bigint not null)`

const APPLIED: Statement = { name: 'applied_migrations', text: 'select version, breaking from trihand_migration' }

/**
 * A migrator waits as long as the one before it needs. An index over all facts of a large ledger takes minutes at most: two million facts
 * take three seconds. Other processes can read meanwhile, and write again afterwards.
 */
const PATIENCE = "set local lock_timeout = '600s'; set local statement_timeout = '600s';"

const addVersion = ({ version, name, breaking }: Migration): string =>
  `insert into trihand_migration values (${version}, '${name}', ${breaking}, (extract(epoch from now()) * 1000)::bigint);`

/** Returns true if this call made it. */
const make = async (database: Database, text: string): Promise<boolean> => {
  try {
    await database.script(text)
    return true
  } catch (error) {
    if (isAlreadyThere(error)) return false
    throw error
  }
}

/** Reads first and creates the tables only if they are missing: to serve a ledger, a role needs no permission to change its schema. */
const appliedTo = async (database: Database, schema: string | null): Promise<readonly AppliedMigration[]> => {
  const ask = (): Promise<readonly AppliedMigration[]> => database.query(APPLIED, [])
  try {
    return await ask()
  } catch (error) {
    if (!isMissingTable(error)) throw error
    if (schema !== null) await make(database, `create schema if not exists ${schema}`)
    await make(database, VERSION_TABLE)
    return ask()
  }
}

const apply = async (database: Database, migration: Migration): Promise<'applied' | 'clashed'> => {
  const isMine = await make(database, `begin; ${PATIENCE} ${addVersion(migration)} ${migration.postgres}; commit`)
  return isMine ? 'applied' : 'clashed'
}

const migratePostgres = (database: Database, schema: string | null, mayChange: boolean): Promise<void> => {
  const target: MigrationTarget = {
    applied: () => appliedTo(database, schema),
    apply: (migration) => apply(database, migration),
  }
  return migrate(target, MIGRATIONS, mayChange)
}

// Large payloads in the ledger's own database, each committed on its own before `put` resolves (blobs-1).

const PUT: Statement = {
  name: 'put_blob',
  text: 'insert into blob (hash, body) values ($1, $2) on conflict (hash) do nothing',
}
const GET: Statement = { name: 'get_blob', text: 'select body from blob where hash = $1' }

class PostgresBlobs implements Blobs {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async put(hash: string, text: string): Promise<void> {
    await this.#database.query(PUT, [hash, text])
  }

  async get(hash: string): Promise<string | null> {
    const [row] = await this.#database.query<{ body: string }>(GET, [hash])
    return row?.body ?? null
  }
}

export interface PostgresOptions {
  readonly url: string
  /** Created if it is missing. Absent: the search_path of the url or the server. */
  readonly schema?: string
  /** The clock that decides what is due. The caller's is for tests and the simulator. */
  readonly clock?: 'database' | 'caller'
  /** Most connections at once. Default: 10. */
  readonly max?: number
  /** True: other processes are notified of wakes and changes, over two more connections. False: they find them by polling. Default: true. */
  readonly notify?: boolean
  /** True: an older ledger is migrated to this version. False: it is refused. Default: true. */
  readonly migrate?: boolean
}

export interface OpenedPostgres {
  /** Its `close` also ends the reader, the blobs and the change feed. */
  readonly ledger: Ledger
  readonly reader: Reader
  readonly blobs: Blobs
  readonly changeFeed: ChangeFeed
  /** The caller starts and stops it. */
  dispatcher(clock: Clock): Dispatcher
  close(): Promise<void>
}

const DEFAULT_MAX = 10
const SCHEMA = /^[a-z_][a-z0-9_]{0,62}$/
const CURRENT_SCHEMA: Statement = { name: 'current_schema', text: 'select current_schema() as schema' }

export const openPostgres = async (options: PostgresOptions): Promise<OpenedPostgres> => {
  const { url, schema = null, clock = 'database', max = DEFAULT_MAX, notify = true, migrate = true } = options
  if (schema !== null && !SCHEMA.test(schema)) {
    throw new TrihandError('CONFIG_INVALID', `the schema is named ${schema}; expected lower-case letters, digits and _`)
  }
  const database = new Database({ url, schema, max })
  try {
    await migratePostgres(database, schema, migrate)
    const [row] = await database.query<{ schema: string }>(CURRENT_SCHEMA, [])
    const found = row?.schema ?? ''
    const place = { url, schema, channel: `${channelOf(found)}_changes` }
    const hints = notify ? new ChangeHints((onMessage) => new Wire({ ...place, onMessage })) : null
    return {
      ledger: new PostgresLedger(database, { clock, schema: found }, hints),
      reader: new PostgresReader(database),
      blobs: new PostgresBlobs(database),
      changeFeed: new PostgresChangeFeed(database, hints),
      dispatcher: (time) => new PostgresDispatcher({ url, schema, channel: channelOf(found), clock: time, notify }),
      close: async () => {
        await hints?.close()
        await database.close()
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** A name of fixed length, so that a long schema name still fits. */
const channelOf = (schema: string): string =>
  `trihand_${createHash('sha256').update(schema).digest('hex').slice(0, 16)}`
