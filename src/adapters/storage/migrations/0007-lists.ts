/**
 * Indexes for lists of very many runs and tasks (docs/decisions/0043).
 *
 * They hold runs without a lease, by status; all runs by handler; open tasks by type and by the person who claimed them. A run that
 * begins, works and ends enters the first index when it ends, the second when it is created, and none in between.
 */
import type { Migration } from './migration.ts'

const PARKED = 'where kind = 0 and lease is null'

export const lists: Migration = {
  version: 7,
  name: 'lists',
  breaking: false,
  sqlite: `
    create index stream_status on stream (tenant, status, key, handler) ${PARKED};
    create index stream_handler on stream (tenant, handler, key) where kind = 0;
    create index task_type on task (tenant, type, id) where is_open = 1;
    create index task_taken on task (tenant, claimed_by, id) where claimed_by is not null and is_open = 1;
  `,
  postgres: `
    create index stream_status on stream (tenant, status, id) include (handler) ${PARKED};
    create index stream_handler on stream (tenant, handler, id) where kind = 0;
    create index task_type on task (tenant, type, id) where is_open;
    create index task_taken on task (tenant, claimed_by, id) where claimed_by is not null and is_open;
    drop index task_status;
    create index task_status on task_address (tenant, address, status, task);
  `,
}
