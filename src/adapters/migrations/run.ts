/**
 * Brings a ledger to this version's schema, also when several processes start at once.
 *
 * Owns the order: the version row goes in first, so that a second migrator clashes there before it changes anything.
 * Never knows a driver: each adapter hands in the three calls.
 */
import { TrihandError } from '../../model/errors.ts'
import type { Migration } from './migration.ts'

export interface AppliedMigration {
  readonly version: number
  readonly breaking: boolean
}

export interface MigrationTarget {
  /** Makes the version table if it is not there, and reads it. */
  applied(): Promise<readonly AppliedMigration[]>
  /** In one transaction: insert the version row, then run the change. `clashed`: another process has inserted that row. */
  apply(migration: Migration): Promise<'applied' | 'clashed'>
}

export const migrate = async (target: MigrationTarget, list: readonly Migration[]): Promise<void> => {
  const applied = await target.applied()
  const known = new Set(list.map((migration) => migration.version))
  const newer = applied.filter((row) => row.breaking && !known.has(row.version))
  if (newer.length > 0) {
    const versions = newer.map((row) => row.version).join(', ')
    throw new TrihandError(
      'LEDGER_NEWER',
      `the ledger has schema version ${versions}, this trihand knows up to ${Math.max(...known)}`,
    )
  }
  const done = new Set(applied.map((row) => row.version))
  for (const migration of list) {
    if (!done.has(migration.version)) await target.apply(migration)
  }
}
