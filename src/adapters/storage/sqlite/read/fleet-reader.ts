/**
 * Queries for due runs that wait for workers, and for the definitions that open runs are pinned to.
 *
 * Owns their SQL and which index each uses: no query reads all runs, however many there are.
 */
import { LIMIT, type Preparer } from '#adapters/storage/sqlite/driver.ts'
import { RUN, rowAs } from '#adapters/storage/sqlite/rows.ts'
import type { Instant, TenantId } from '#model/kernel/ids.ts'
import { OPEN_STATUSES } from '#model/run/status.ts'
import { type PinnedCount, type PinnedRuns, pinnedRuns } from '#model/worker/pinned-runs.ts'
import type { DueRuns } from '#ports/reader.ts'

/** The plain lane, the other lanes, and the runs that no worker can take have an index each. */
const dueIn = (index: string, which: string): string => `select * from (
  select handler, system_hash, wake_at from stream indexed by ${index} where ${which} and wake_at is not null and wake_at <= ? and lease is null
    and kind = ${RUN} order by wake_at ${LIMIT})`

export const prepareFleetQueries = (db: Preparer) => ({
  dueRuns: db.prepare(`select handler, system_hash as version, count(*) as count, min(wake_at) as since from (
    ${dueIn('stream_due', "lane = '' and aside is null")} union all ${dueIn('stream_lane_due', "lane > '' and aside is null")}
    union all ${dueIn('stream_aside', 'aside is not null')} order by wake_at ${LIMIT})
    group by handler, system_hash order by handler, system_hash`),
  pinnedOfStatus: db.prepare(`select system_hash as hash, ? as status, count(*) as count from (
    select system_hash from stream indexed by stream_status where tenant = ? and status = ? and kind = ${RUN} and lease is null
      order by key desc ${LIMIT}) group by system_hash`),
  pinnedHeld:
    db.prepare(`select system_hash as hash, null as status, count(*) as count from stream indexed by stream_lease
    where lease is not null and tenant = ? and kind = ${RUN} group by system_hash`),
})

type FleetQueries = ReturnType<typeof prepareFleetQueries>

export const readDue = ({ dueRuns }: FleetQueries, now: Instant, most: number): readonly DueRuns[] =>
  dueRuns.all(now, most, now, most, now, most, most).map(rowAs<DueRuns>)

export const readPinned = (
  { pinnedOfStatus, pinnedHeld }: FleetQueries,
  tenant: TenantId,
  most: number,
): readonly PinnedRuns[] => {
  const parked = OPEN_STATUSES.flatMap((status) => pinnedOfStatus.all(status, tenant, status, most))
  return pinnedRuns([...parked, ...pinnedHeld.all(tenant)].map(rowAs<PinnedCount>), most)
}
