/**
 * Lanes: a run with slots or a priority waits in a lane of its own kind (model/flow/lane.ts); the empty text is the plain lane of all
 * other runs.
 *
 * One index holds all parked runs by lane, so that runs of the plain lane cost no more than before. Two more hold only runs of other
 * lanes: those that fall due, and those that have a lease. On Postgres, where a worker may take the runs of some handlers only, another
 * index finds parked runs by handler.
 */
import type { Migration } from './migration.ts'

const SHARED = `
    alter table stream add column lane text not null default '';
    create index stream_lane_due on stream (wake_at) where lane > '' and wake_at is not null and lease is null;
    create index stream_lane_held on stream (lane) where lane > '' and lease is not null;
    drop index stream_due;
`

export const lanes: Migration = {
  version: 2,
  name: 'lanes',
  breaking: true,
  sqlite: `${SHARED}
    create index stream_due on stream (lane, wake_at, key) where wake_at is not null and lease is null;
  `,
  postgres: `${SHARED}
    create index stream_due on stream (lane, wake_at, id) where wake_at is not null and lease is null;
    create index stream_handler_due on stream (handler, lane, wake_at, id) where wake_at is not null and lease is null;
  `,
}
