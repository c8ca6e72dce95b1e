/**
 * Events by the values they hold (docs/decisions/0090): `event_value` has a key (event-values.ts) for each event and each path that a
 * wait has used; `value_path` has the sequence after which the list is complete for a tenant's events of a type. Earlier events are
 * listed on the first query for them, so that the migration reads no event.
 *
 * Breaking: an older program writes events without their keys, and a wait would miss them.
 */
import type { Migration } from './migration.ts'

const VALUE_PATH = 'tenant text not null, type text not null, path text not null'

export const eventValues: Migration = {
  version: 13,
  name: 'event values',
  breaking: true,
  sqlite: `
    create table event_value (
      tenant text not null,
      key blob not null,
      seq integer not null,
      primary key (key, tenant, seq)
    ) without rowid;
    create table value_path (${VALUE_PATH}, since integer not null, primary key (tenant, type, path)) without rowid;
  `,
  postgres: `
    create table event_value (
      tenant text not null,
      key uuid not null,
      seq bigint not null,
      primary key (key, tenant, seq)
    );
    create table value_path (${VALUE_PATH}, since bigint not null, primary key (tenant, type, path));
  `,
}
