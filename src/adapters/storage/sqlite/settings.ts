/**
 * Opens a database for the ledger with the settings that durability needs, each set and read back.
 *
 * Owns the list of settings. A driver may lose one when a file is reopened (the package reports WAL with `synchronous` 1), so every
 * opening goes through this file. Never migrates, never locks.
 */
import { chmodSync, statSync } from 'node:fs'
import { TrihandError } from '#model/kernel/errors.ts'
import { type Database, type DatabaseClass, isAtLeast, OLDEST_SQLITE } from './driver.ts'

/** `relaxed` may lose acknowledged facts in a power cut: a control for tests, never a default. */
export type Durability = 'full' | 'relaxed'

interface Setting {
  readonly name: string
  readonly set: string
  readonly reads: string | number
}

const BUSY_TIMEOUT_MS = 5000
const WAL_KEPT_BYTES = 67_108_864

/** On a Mac fsync leaves the data in the drive's cache; only these two settings make it reach the medium. */
const MAC_SETTINGS: readonly Setting[] = [
  { name: 'fullfsync', set: 'on', reads: 1 },
  { name: 'checkpoint_fullfsync', set: 'on', reads: 1 },
]

const settingsFor = (durability: Durability): readonly Setting[] => [
  { name: 'journal_mode', set: 'wal', reads: 'wal' },
  durability === 'full'
    ? { name: 'synchronous', set: 'full', reads: 2 }
    : { name: 'synchronous', set: 'normal', reads: 1 },
  { name: 'foreign_keys', set: 'on', reads: 1 },
  { name: 'trusted_schema', set: 'off', reads: 0 },
  { name: 'cell_size_check', set: 'on', reads: 1 },
  { name: 'mmap_size', set: '0', reads: 0 },
  { name: 'wal_autocheckpoint', set: '1000', reads: 1000 },
  // Overwriting a kept WAL takes half the time of growing it: never truncate it below its working size.
  { name: 'journal_size_limit', set: String(WAL_KEPT_BYTES), reads: WAL_KEPT_BYTES },
  ...(process.platform === 'darwin' ? MAC_SETTINGS : []),
]

export const readSetting = (db: Database, name: string): string | number | null => {
  const value = Object.values(db.prepare(`pragma ${name}`).get() ?? {})[0]
  return typeof value === 'string' || typeof value === 'number' ? value : null
}

const applySetting = (db: Database, { name, set, reads }: Setting): void => {
  db.exec(`pragma ${name} = ${set}`)
  const found = readSetting(db, name)
  if (found === reads) return
  throw new TrihandError(
    'LEDGER_NOT_DURABLE',
    `pragma ${name} reads ${found} after it was set to ${set}; expected ${reads}`,
  )
}

export const sqliteVersion = (db: Database): string =>
  String(db.prepare('select sqlite_version() as version').get()?.['version'])

const checkVersion = (db: Database): void => {
  const version = sqliteVersion(db)
  if (!isAtLeast(version, OLDEST_SQLITE)) throw new TrihandError('SQLITE_TOO_OLD', `this is SQLite ${version}`)
}

/** Removes permissions of others, and adds none: a file that its owner may only read stays read-only. */
const closeToOthers = (file: string): void => chmodSync(file, statSync(file).mode & 0o600)

/** Closes the database again if `prepare` fails. */
const opened = (db: Database, prepare: (db: Database) => void): Database => {
  try {
    prepare(db)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

export const openForWriting = (driver: DatabaseClass, file: string, durability: Durability): Database =>
  opened(new driver(file, { timeout: BUSY_TIMEOUT_MS }), (db) => {
    checkVersion(db)
    // Before the WAL exists: SQLite gives it the mode of the main file.
    closeToOthers(file)
    for (const setting of settingsFor(durability)) applySetting(db, setting)
    db.enableDefensive?.(true)
  })

export const openForReading = (driver: DatabaseClass, file: string): Database =>
  opened(new driver(file, { timeout: BUSY_TIMEOUT_MS, readOnly: true }), (db) => {
    db.exec('pragma trusted_schema = off')
    db.exec('pragma mmap_size = 0')
  })
