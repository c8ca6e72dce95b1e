/**
 * Indexes to find a run by its last digits, and to count open tasks (docs/decisions/0077). Indexes only: an older program may still open
 * the ledger.
 *
 * Postgres finds a run by its first fact: facts never change, so that a run costs one entry; an index on its row would get another
 * entry with each claim and each release. A query must repeat the condition word for word, or the index is not used (LAST_DIGITS).
 * SQLite has no such index, because each byte per parked run counts there. Its index of handlers drops a key that it had twice, because
 * SQLite adds the row's own.
 */
import type { Migration } from './migration.ts'

/** The last three bytes of an id, on Postgres, which are as many digits as a person must give; `where` selects a run's first fact. */
export const LAST_DIGITS = {
  digits: 6,
  of: (id: string): string => `substr(uuid_send(${id}), 14)`,
  where: "seq = 0 and type like 'run.%'",
} as const

export const lookups: Migration = {
  version: 10,
  name: 'lookups',
  breaking: false,
  sqlite: `
    drop index task_type;
    create index task_type on task (tenant, type, id, deadline) where is_open = 1;
    drop index stream_handler;
    create index stream_handler on stream (tenant, handler) where kind = 0;
  `,
  postgres: `
    drop index task_type;
    create index task_type on task (tenant, type, id) include (deadline) where is_open;
    create index fact_last_digits on fact (${LAST_DIGITS.of('stream')}) where ${LAST_DIGITS.where};
  `,
}
