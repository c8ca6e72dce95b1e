/**
 * Table of the changes of each transaction of a shared ledger, for pages of other processes (docs/decisions/0059).
 *
 * It has one row per transaction. The key is the transaction's number, so that a reader knows which rows may still appear. The table is
 * `unlogged` (it has no write-ahead log), so that it costs the append next to nothing, and is empty after a crash of the server. So is the
 * table beside it, whose one row names this incarnation: readers notice a crash by it. A row is stored in one piece up to the size of a page,
 * uncompressed. SQLite has one process and needs no such table.
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
