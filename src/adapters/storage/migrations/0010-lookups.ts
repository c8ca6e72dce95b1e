/**
 * What a run is found in by its last digits, and open tasks are counted in (docs/decisions/0077). Indexes only: an older program may still
 * open the ledger.
 *
 * Postgres finds a run by its first fact: facts never change, so that a run costs one entry, where its row would cost another one with
 * each claim and each release. The question must be asked in these very words, or the index is not used (LAST_DIGITS). SQLite has no such
 * index: its bytes for each parked run are counted. There the index of handlers gives up a key that stood in it twice, since SQLite adds the
 * row's own.
 */
import type { Migration } from './migration.ts'

/** The last three bytes of an id, on Postgres: as many digits as a person has to give; and which facts are looked at, a run's first. */
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
