/**
 * Brings a ledger to this version's schema; safe when several processes start at once.
 *
 * Owns the order: the version row goes in first, so that a second migrator clashes there before it changes anything.
 * Does not know any driver: each adapter passes in the calls to its database.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import type { Migration } from './migration.ts'

export interface AppliedMigration {
  readonly version: number
  readonly breaking: boolean
}

export interface MigrationTarget {
  /** Creates the version table if it is missing, and reads it. */
  applied(): Promise<readonly AppliedMigration[]>
  /** In one transaction: insert the version row, then run the change. `clashed`: another process has inserted that row. */
  apply(migration: Migration): Promise<'applied' | 'clashed'>
}

/** `mayChange`: false for a caller that only reads a ledger that others serve, perhaps with an older program. */
export const migrate = async (
  target: MigrationTarget,
  list: readonly Migration[],
  mayChange: boolean,
): Promise<void> => {
  const applied = await target.applied()
  const known = new Set(list.map((migration) => migration.version))
  const newer = applied.filter((row) => row.breaking && !known.has(row.version))
  if (newer.length > 0) {
    const versions = newer.map((row) => row.version).join(', ')
    throw new TrihandError(
      'LEDGER_NEWER',
      `the ledger has schema version ${versions}; this trihand supports up to ${Math.max(...known)}`,
    )
  }
  const done = new Set(applied.map((row) => row.version))
  const missing = list.filter(({ version }) => !done.has(version))
  if (missing.length > 0 && !mayChange) {
    const versions = missing.map(({ version }) => version).join(', ')
    throw new TrihandError(
      'LEDGER_OLDER',
      `the ledger lacks schema version ${versions}, and this command may not change the schema`,
    )
  }
  for (const migration of missing) await target.apply(migration)
}
