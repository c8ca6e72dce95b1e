/**
 * Fixes the number of event types that the Postgres planner assumes, whatever its statistics say.
 *
 * After `analyze` on a ledger with only one type, the planner read "the next events of a type" in the order of all events: for a rare
 * type this reads the whole table.
 */
import type { Migration } from './migration.ts'

export const eventTypes: Migration = {
  version: 4,
  name: 'event types',
  breaking: false,
  sqlite: '',
  postgres: 'alter table event alter column type set (n_distinct = 1000);',
}
