/**
 * Opens a ledger file, in the only safe order: the disk, the owner's lock, the settings, the schema, the leases of dead workers.
 *
 * Owns that order; a failure at any step stops the opening and releases what was acquired before it.
 */
import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { MIGRATIONS } from '#adapters/storage/migrations/list.ts'
import type { Migration } from '#adapters/storage/migrations/migration.ts'
import { type MigrationTarget, migrate } from '#adapters/storage/migrations/run.ts'
import { SqliteReader } from '#adapters/storage/sqlite/read/reader.ts'
import type { startThread } from '#adapters/storage/sqlite/thread/thread.ts'
import { RowCache } from '#adapters/storage/sqlite/write/row-cache.ts'
import { NEVER } from '#adapters/storage/sqlite/write/worker.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Blobs } from '#ports/blobs.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { Reader } from '#ports/reader.ts'
import { collectAlone } from './collector.ts'
import { Connection } from './connection.ts'
import { diskOf } from './disk.ts'
import { type Database, type DatabaseClass, loadDriver } from './driver.ts'
import { isKeyClash, translateOpening } from './errors.ts'
import { type LoadLimits, SqliteLedger } from './ledger.ts'
import { openPresent } from './open-present.ts'
import { OwnerLock } from './owner-lock.ts'
import { Presence } from './presence.ts'
import { SqliteSession } from './session.ts'
import { type Durability, openForReading, sqliteVersion } from './settings.ts'
import { prepareStatements } from './statements.ts'

/*
 * Migrates the schema of this file.
 * Owns the version table in this dialect. The order, and the handling of a newer ledger, are in migrations/run.ts.
 */

const VERSION_TABLE = `create table if not exists trihand_migration
  (version integer primary key, name text not null, breaking integer not null, applied_at integer not null)`

/** Returns true if the row is new: another process may have inserted it. */
const addVersion = (db: Database, { version, name, breaking }: Migration): boolean => {
  const add = db.prepare('insert into trihand_migration (version, name, breaking, applied_at) values (?, ?, ?, ?)')
  try {
    add.run(version, name, breaking ? 1 : 0, Date.now())
    return true
  } catch (error) {
    if (isKeyClash(error)) return false
    throw error
  }
}

const apply = (db: Database, migration: Migration): 'applied' | 'clashed' => {
  db.exec('begin immediate')
  try {
    const isNew = addVersion(db, migration)
    if (isNew) db.exec(migration.sqlite)
    db.exec('commit')
    return isNew ? 'applied' : 'clashed'
  } catch (error) {
    if (db.isTransaction) db.exec('rollback')
    throw error
  }
}

const targetOf = (db: Database): MigrationTarget => ({
  applied: async () => {
    db.exec(VERSION_TABLE)
    const rows = db.prepare('select version, breaking from trihand_migration').all()
    return rows.map((row) => ({ version: Number(row['version']), breaking: row['breaking'] === 1 }))
  },
  apply: async (migration) => apply(db, migration),
})

const migrateSqlite = (db: Database, mayChange: boolean): Promise<void> => migrate(targetOf(db), MIGRATIONS, mayChange)

export interface SqliteOptions {
  readonly file: string
  readonly durability?: Durability
  /** True: an older ledger is migrated to this version. False: it is refused. Default: true. */
  readonly migrate?: boolean
  /**
   * True: on two cores or fewer V8 collects young objects without helper threads once the ledger has a thread. This applies to the whole
   * process. Default: false.
   */
  readonly tuneProcess?: boolean
  /** For tests: another session than one in a thread, and other load limits. */
  readonly threads?: { readonly start: typeof startThread; readonly limits: LoadLimits }
}

export interface OpenedSqlite {
  /** Its `close` also ends the reader and the blobs. */
  readonly ledger: Ledger
  readonly reader: Reader
  readonly blobs: Blobs
  /** True if a power cut may lose acknowledged writes: this was requested, or the disk is memory. */
  readonly relaxed: boolean
  readonly sqliteVersion: string
}

export const openSqlite = async (options: SqliteOptions): Promise<OpenedSqlite> => {
  const { file, durability = 'full' } = options
  const path = locate(file)
  const disk = await diskOf(dirname(path))
  if (disk === 'network') throw new TrihandError('LEDGER_ON_NETWORK_DISK', `${path} is on a network disk`)
  const driver = await loadDriver()
  try {
    const opened = await openOwned(driver, path, { ...options, durability })
    return { ...opened, relaxed: durability === 'relaxed' || disk === 'memory' }
  } catch (error) {
    throw translateOpening(error, path)
  }
}

/** The real path, so that two names of one file do not get two locks. */
const locate = (file: string): string => {
  if (file === '' || file === ':memory:') throw new TrihandError('CONFIG_INVALID', 'a SQLite ledger needs a file')
  const directory = dirname(file)
  if (!existsSync(directory)) throw new TrihandError('CONFIG_INVALID', `the directory ${directory} does not exist`)
  if (!existsSync(file)) return join(realpathSync(directory), basename(file))
  if (!statSync(file).isFile()) throw new TrihandError('CONFIG_INVALID', `${file} is not a file`)
  return realpathSync(file)
}

const openOwned = async (
  driver: DatabaseClass,
  file: string,
  {
    durability,
    threads,
    migrate = true,
    tuneProcess = false,
  }: Required<Pick<SqliteOptions, 'durability'>> & Pick<SqliteOptions, 'threads' | 'migrate' | 'tuneProcess'>,
): Promise<Omit<OpenedSqlite, 'relaxed'>> => {
  const lock = new OwnerLock(driver, file)
  const presence = new Presence(file)
  const reopen = (): Database => openPresent(presence, driver, file, durability)
  try {
    const db = await prepared(reopen(), lock, migrate)
    const known = new RowCache()
    const connection = new Connection({
      db,
      reopen,
      presence,
      prepare: prepareStatements,
      forget: () => known.forget(),
    })
    const reader = new SqliteReader(() => openForReading(driver, file))
    const close = (): void => {
      reader.close()
      try {
        connection.emptyLog()
      } finally {
        connection.close()
        lock.release()
      }
    }
    const ledger = new SqliteLedger({
      here: new SqliteSession(connection, known),
      isSound: () => connection.isSound,
      reopen: () => connection.reopen(),
      startThread: () => {
        if (tuneProcess) collectAlone()
        return (threads?.start ?? startOnDemand)({ file, durability, identity: presence.identity })
      },
      ...(threads && { limits: threads.limits }),
      close,
    })
    return { ledger, reader, blobs: ledger, sqliteVersion: sqliteVersion(db) }
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Loaded on demand, so that a start does not pay for a thread. */
const startOnDemand: typeof startThread = async (options) =>
  (await import('#adapters/storage/sqlite/thread/thread.ts')).startThread(options)

/** The lock proves that no worker of this file is alive: the first heartbeat frees their leases, by its own clock. */
const prepared = async (db: Database, lock: OwnerLock, mayChange: boolean): Promise<Database> => {
  try {
    lock.requireKept()
    await migrateSqlite(db, mayChange)
    db.exec(`update worker set beat_at = ${NEVER}`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}
