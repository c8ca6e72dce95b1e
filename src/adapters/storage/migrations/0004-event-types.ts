/**
 * How many event types the Postgres planner should take for granted, whatever the rows it has looked at say.
 *
 * A ledger that has one type only, once analysed, made "the next events of a type" look cheapest in the order of all events: for a type
 * that is rare this reads the whole table.
 */
import type { Migration } from './migration.ts'

export const eventTypes: Migration = {
  version: 4,
  name: 'event types',
  breaking: false,
  sqlite: '',
  postgres: 'alter table event alter column type set (n_distinct = 1000);',
}
