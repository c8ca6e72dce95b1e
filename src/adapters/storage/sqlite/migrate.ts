/**
 * The schema of this file, brought up to date.
 *
 * Owns the version table in this dialect. The order, and what a newer ledger means, are in migrations/run.ts.
 */
import { MIGRATIONS } from '#adapters/storage/migrations/list.ts'
import type { Migration } from '#adapters/storage/migrations/migration.ts'
import { type MigrationTarget, migrate } from '#adapters/storage/migrations/run.ts'
import type { Database } from './driver.ts'
import { isKeyClash } from './errors.ts'

const VERSION_TABLE = `create table if not exists trihand_migration
  (version integer primary key, name text not null, breaking integer not null, applied_at integer not null)`

/** Says whether the row is new: another process may have inserted it. */
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

export const migrateSqlite = (db: Database, mayChange: boolean): Promise<void> =>
  migrate(targetOf(db), MIGRATIONS, mayChange)
