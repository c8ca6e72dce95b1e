/** A worker's information about itself, as JSON text beside its heartbeat: shown to people, used for placement, never needed for a lease. */
import type { Migration } from './migration.ts'

const ADD = 'alter table worker add column info text;'

export const workerInfo: Migration = {
  version: 3,
  name: 'worker info',
  breaking: false,
  sqlite: ADD,
  postgres: ADD,
}
