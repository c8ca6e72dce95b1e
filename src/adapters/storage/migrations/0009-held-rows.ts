/**
 * The row of a run with a lease may lag behind its facts (docs/decisions/0070): no table changes, only the meaning of rows.
 *
 * An older program would release such a row without updating it, and the run could not be written any more.
 */
import type { Migration } from './migration.ts'

export const heldRows: Migration = {
  version: 9,
  name: 'held-rows',
  breaking: true,
  sqlite: '',
  postgres: '',
}
