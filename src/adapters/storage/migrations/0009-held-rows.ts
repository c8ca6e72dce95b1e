/**
 * The row of a run that has a lease may stand behind its facts (docs/decisions/0070): no table changes, their meaning does.
 *
 * A program that does not know this would free such a row as it stands, and nobody could write the run any more.
 */
import type { Migration } from './migration.ts'

export const heldRows: Migration = {
  version: 9,
  name: 'held-rows',
  breaking: true,
  sqlite: '',
  postgres: '',
}
