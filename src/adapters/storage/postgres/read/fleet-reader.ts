/**
 * Queries for due runs that wait for workers, and for the definitions that open runs are pinned to.
 *
 * Owns their SQL: no query reads all runs, however many there are.
 */
import type { Database, Statement } from '#adapters/storage/postgres/pool.ts'
import { RUN } from '#adapters/storage/postgres/rows.ts'
import type { Instant, TenantId } from '#model/kernel/ids.ts'
import { OPEN_STATUSES } from '#model/run/status.ts'
import { type PinnedCount, type PinnedRuns, pinnedRuns } from '#model/worker/pinned-runs.ts'
import type { DueRuns } from '#ports/reader.ts'

/** The plain lane and the other lanes have an index each, by version and instant. */
const dueIn = (
  lane: string,
): string => `(select handler, wake_at from stream where system_hash = v.version and ${lane} and wake_at is not null and wake_at <= $1
  and lease is null and kind = ${RUN} order by wake_at limit $2)`

const FIRST_VERSION = 'wake_at is not null and lease is null order by system_hash limit 1'

const DUE: Statement = {
  name: 'read_due',
  text: `with recursive v as (
    (select system_hash as version from stream where ${FIRST_VERSION})
    union all select (select system_hash from stream where system_hash > v.version and ${FIRST_VERSION}) from v where v.version is not null)
  select handler, version, count(*) as count, min(wake_at) as since from (
    select v.version, due.* from v, lateral (${dueIn("lane = ''")} union all ${dueIn("lane > ''")}) due
    where v.version is not null order by wake_at limit $2) oldest
    group by handler, version order by handler collate "C", version collate "C"`,
}

/** Written as a range of pairs: only one index has them in this order, whatever statistics the planner has. */
const PINNED: Statement = {
  name: 'read_pinned',
  text: `select newest.system_hash as hash, wanted.status, count(*) as count from unnest($3::text[]) as wanted(status), lateral (
      select system_hash from stream where tenant = $1 and kind = ${RUN} and lease is null
        and (status, id) <= (wanted.status, 'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid)
        and (status, id) >= (wanted.status, '00000000-0000-0000-0000-000000000000'::uuid)
        order by status desc, id desc limit $2::bigint) newest
    group by wanted.status, newest.system_hash
    union all
    select system_hash, null, count(*) from (
      select system_hash from stream where lease is not null and tenant = $1 and kind = ${RUN} order by lease offset 0) held
    group by system_hash`,
}

export const readDue = (database: Database, now: Instant, most: number): Promise<readonly DueRuns[]> =>
  database.query<DueRuns>(DUE, [now, most])

export const readPinned = async (database: Database, tenant: TenantId, most: number): Promise<readonly PinnedRuns[]> =>
  pinnedRuns(await database.query<PinnedCount>(PINNED, [tenant, most, OPEN_STATUSES]), most)
