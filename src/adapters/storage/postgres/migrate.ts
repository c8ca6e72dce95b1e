/**
 * The schema of this database, brought up to date, also by many processes at once.
 *
 * Owns the version table in this dialect. The order, and what a newer ledger means, are in migrations/run.ts.
 * Trap: `if not exists` is not safe in parallel here. Whoever loses that race meets a clash of names, which means: it exists.
 */
import { MIGRATIONS } from '#adapters/storage/migrations/list.ts'
import type { Migration } from '#adapters/storage/migrations/migration.ts'
import { type AppliedMigration, type MigrationTarget, migrate } from '#adapters/storage/migrations/run.ts'
import { isAlreadyThere, isMissingTable } from './errors.ts'
import type { Database, Statement } from './pool.ts'

const VERSION_TABLE = `create table if not exists trihand_migration
  (version integer primary key, name text not null, breaking boolean not null, applied_at bigint not null)`

const APPLIED: Statement = { name: 'applied_migrations', text: 'select version, breaking from trihand_migration' }

/**
 * A migrator waits as long as the one before it needs. An index over all facts of a large ledger is made within minutes: two million in
 * three seconds. Others can read meanwhile, and write again after it.
 */
const PATIENCE = "set local lock_timeout = '600s'; set local statement_timeout = '600s';"

const addVersion = ({ version, name, breaking }: Migration): string =>
  `insert into trihand_migration values (${version}, '${name}', ${breaking}, (extract(epoch from now()) * 1000)::bigint);`

/** Says whether this call made it. */
const make = async (database: Database, text: string): Promise<boolean> => {
  try {
    await database.script(text)
    return true
  } catch (error) {
    if (isAlreadyThere(error)) return false
    throw error
  }
}

/** Nothing is made that may be there already: to serve a ledger, a role needs no right to change its schema. */
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

export const migratePostgres = (database: Database, schema: string | null, mayChange: boolean): Promise<void> => {
  const target: MigrationTarget = {
    applied: () => appliedTo(database, schema),
    apply: (migration) => apply(database, migration),
  }
  return migrate(target, MIGRATIONS, mayChange)
}
