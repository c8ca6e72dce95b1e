/**
 * Pins: a run is claimed by workers of its version (model/worker/pin.ts), and keeps its original version when another takes it over.
 *
 * Postgres finds parked runs by version, because workers of several versions share it: both indexes of parked runs begin with values that
 * a worker knows of itself. A SQLite file has one owner, which takes over every run that it has the code for; a run that it cannot take
 * is set aside, out of the index, so that it is read once and not with every claim. An older program would claim any run that is due.
 */
import type { Migration } from './migration.ts'

const PARKED = 'wake_at is not null and lease is null'

export const pins: Migration = {
  version: 12,
  name: 'pins',
  breaking: true,
  sqlite: `
    alter table stream add column born_hash text;
    alter table stream add column aside integer;
    create index stream_aside on stream (aside) where aside is not null;
    drop index stream_due;
    create index stream_due on stream (lane, wake_at, key) where ${PARKED} and aside is null;
    drop index stream_lane_due;
    create index stream_lane_due on stream (wake_at) where lane > '' and ${PARKED} and aside is null;
  `,
  postgres: `
    alter table stream add column born_hash text;
    drop index stream_due;
    create index stream_due on stream (system_hash, lane, wake_at, id) where ${PARKED};
    drop index stream_handler_due;
    create index stream_handler_due on stream (handler, system_hash, lane, wake_at, id) where ${PARKED};
    drop index stream_lane_due;
    create index stream_lane_due on stream (system_hash, wake_at) where lane > '' and ${PARKED};
  `,
}
