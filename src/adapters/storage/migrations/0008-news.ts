/**
 * What each transaction of a shared ledger has changed, for pages of other processes (docs/decisions/0059).
 *
 * One row per transaction. Its key is the transaction's number, so that a reader can tell which rows are still to come. Without a log of its
 * own (`unlogged`): it costs the append next to nothing, and after a crash of the server it is empty. So is the table beside it, whose one row
 * names this life: that is how readers notice. A row is kept in one piece up to a page of the table, uncompressed. SQLite has one process,
 * which knows by itself.
 */
import type { Migration } from './migration.ts'

export const news: Migration = {
  version: 8,
  name: 'news',
  breaking: false,
  sqlite: '',
  postgres: `
    create unlogged table news (
      xid xid8 primary key default pg_current_xact_id(),
      streams uuid[] not null,
      tenants text[] not null
    ) with (toast_tuple_target = 8160, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000);
    create unlogged table news_life (
      is_only boolean primary key default true check (is_only),
      name text not null default gen_random_uuid()::text
    );
    alter table news alter column streams set storage external;
  `,
}
