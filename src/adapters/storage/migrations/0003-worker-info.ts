/** What a worker says of itself, as JSON text beside its beat: shown to people, read for placement, never needed for a lease. */
import type { Migration } from './migration.ts'

const ADD = 'alter table worker add column info text;'

export const workerInfo: Migration = {
  version: 3,
  name: 'worker info',
  breaking: false,
  sqlite: ADD,
  postgres: ADD,
}
