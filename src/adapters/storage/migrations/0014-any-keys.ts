/**
 * Waits for values of any length (docs/decisions/0105). On Postgres a btree entry has at most 2,704 bytes, so that waits are found by a
 * hash of their value, which is then compared. SQLite has no such limit.
 *
 * Not breaking: an older program finds waits by type and path through the same index, and compares the values itself.
 */
import type { Migration } from './migration.ts'

/** Not `md5`, which a server in FIPS mode refuses. The comparison distinguishes two values with the same hash. */
export const waitHash = (value: string): string => `hashtextextended(${value}, 0)`

export const anyKeys: Migration = {
  version: 14,
  name: 'any keys',
  breaking: false,
  sqlite: '',
  postgres: `
    drop index wait_match;
    create index wait_match on wait (type, path, ${waitHash('value')});
  `,
}
