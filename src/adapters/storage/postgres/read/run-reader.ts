/**
 * Queries on runs that must not read all of them: pages by status, handler and session, counts.
 *
 * Owns their SQL and which index each uses. The total is counted anew while it is small; a large total may be seconds old.
 */
import type { Database, Statement, Value } from '#adapters/storage/postgres/pool.ts'
import { RUN, type StreamRow, toUuid, versionOf } from '#adapters/storage/postgres/rows.ts'
import type { TenantId } from '#model/kernel/ids.ts'
import { type NewestCounts, newestCounts, type RunCount } from '#model/run/newest-counts.ts'
import { RUN_STATUSES, type RunStatus } from '#model/run/status.ts'
import type { RunQuery } from '#ports/reader.ts'

export type SummaryRow = Pick<
  StreamRow,
  'id' | 'handler' | 'status' | 'session' | 'parent' | 'event' | 'version' | 'wake_at' | 'lease' | 'created_at'
>

export const SUMMARY = `select id, handler, status, session, parent, event, ${versionOf('stream')} as version, wake_at, lease, created_at
  from stream`
const PARKED = `kind = ${RUN} and lease is null`
const SUCCESS: RunStatus = 'success'
const OTHERS = RUN_STATUSES.filter((status) => status !== SUCCESS)

/** Ids are uuids of version 7: their order is the order of creation. */
const FIRST = '00000000-0000-0000-0000-000000000000'
const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const BEFORE = `coalesce($3::uuid, '${LAST}')`
const PAGE = `and id < ${BEFORE} order by id desc limit $2`

/** For a column in $4. Written as a range of pairs: only the index of that column has them in this order, whatever the planner's statistics. */
const pageOf = (column: string, type = 'text'): string => `and (${column}, id) < ($4::${type}, ${BEFORE})
  and (${column}, id) >= ($4::${type}, '${FIRST}'::uuid) order by ${column} desc, id desc limit $2`

/** Reads runs without a lease from their index; those with one are few, and sorted. The order by lease leads to the index of leases. */
const ofStatus = (name: string, and: string): Statement => ({
  name,
  text: `select * from (
    (${SUMMARY} where tenant = $1 and ${PARKED} ${and} ${pageOf('status')})
    union all
    (select * from (${SUMMARY} where lease is not null and tenant = $1 and kind = ${RUN} and status = $4 ${and}
      order by lease offset 0) held
      where true ${PAGE})) both_of_them
  order by id desc limit $2`,
})

/** Values: tenant, limit, cursor. */
const NEWEST: Statement = { name: 'read_runs', text: `${SUMMARY} where tenant = $1 and kind = ${RUN} ${PAGE}` }
const OF_HANDLER: Statement = {
  name: 'read_runs_of_handler',
  text: `${SUMMARY} where tenant = $1 and kind = ${RUN} ${pageOf('handler')}`,
}
/** Further values: status and handler, if any. */
const OF_SESSION: Statement = {
  name: 'read_runs_of_session',
  text: `${SUMMARY} where tenant = $1 and kind = ${RUN} and session is not null and ($5::text is null or status = $5)
    and ($6::text is null or handler = $6) ${pageOf('session', 'uuid')}`,
}
const OF_STATUS = ofStatus('read_runs_of_status', '')
const OF_BOTH = ofStatus('read_runs_of_both', 'and handler = $5')

export const readRuns = (database: Database, query: RunQuery): Promise<readonly SummaryRow[]> => {
  const { tenant, status, handler, session = null, limit } = query
  const before = query.before === null ? null : toUuid(query.before)
  const ask = (statement: Statement, ...more: readonly Value[]): Promise<readonly SummaryRow[]> =>
    database.query<SummaryRow>(statement, [tenant, limit, before, ...more])
  if (session !== null) return ask(OF_SESSION, toUuid(session), status, handler)
  if (status === null) return handler === null ? ask(NEWEST) : ask(OF_HANDLER, handler)
  return handler === null ? ask(OF_STATUS, status) : ask(OF_BOTH, status, handler)
}

/** Counts status by status: no grouping of rows is needed, and no parallel workers start for so little work. */
const counts = (name: string, and: string): Statement => ({
  name,
  text: `select wanted.status, parked.count from unnest($2::text[]) as wanted(status), lateral (
      select count(*) from stream where tenant = $1 and ${PARKED} and status = wanted.status ${and}) parked
    union all
    select status, count(*) as count from (
      select status from stream where lease is not null and tenant = $1 and kind = ${RUN} ${and}
        order by lease offset 0) held group by status`,
})
const COUNTS = counts('read_counts', '')
const COUNTS_OF = counts('read_counts_of', 'and handler = $3')
const TOTAL: Statement = {
  name: 'read_total',
  text: `select count(*) as count from stream where tenant = $1 and kind = ${RUN}`,
}
const TOTAL_OF: Statement = {
  name: 'read_total_of',
  text: `select count(*) as count from stream where tenant = $1 and kind = ${RUN} and handler = $2`,
}

/** Values: tenant, how many of each status. */
const NEWEST_COUNTS: Statement = {
  name: 'read_newest_counts',
  text: `select wanted.status, newest.handler, count(*) as count, false as held from unnest($3::text[]) as wanted(status), lateral (
      select handler from stream where tenant = $1 and ${PARKED} and (status, id) <= (wanted.status, '${LAST}'::uuid)
        and (status, id) >= (wanted.status, '${FIRST}'::uuid) order by status desc, id desc limit $2::bigint) newest
    group by wanted.status, newest.handler
    union all
    select status, handler, count(*), true from (
      select status, handler from stream where lease is not null and tenant = $1 and kind = ${RUN} order by lease offset 0) held
    group by status, handler`,
}

export const countNewest = async (database: Database, tenant: TenantId, most: number): Promise<NewestCounts> => {
  const rows = await database.query<RunCount & { readonly held: boolean }>(NEWEST_COUNTS, [tenant, most, RUN_STATUSES])
  const [held, parked] = [rows.filter((row) => row.held), rows.filter((row) => !row.held)]
  return newestCounts(parked, held, most)
}

/** Totals below this are counted each time. */
const MANY = 100_000
const OLD_AFTER_MS = 10_000
/** Most tenants and handlers that are remembered. */
const MAX_KNOWN = 1_000

interface Total {
  readonly count: number
  readonly countedAt: number
}

/** The number of runs. For a large total it returns the last count and counts again in the background. */
export class RunTotals {
  readonly #known = new Map<string, Total>()
  readonly #counting = new Set<string>()

  async of(database: Database, tenant: TenantId, handler: string | null): Promise<number> {
    const name = JSON.stringify([tenant, handler])
    const known = this.#known.get(name)
    if (known === undefined || known.count < MANY) return this.#count(database, tenant, handler)
    if (performance.now() - known.countedAt > OLD_AFTER_MS && !this.#counting.has(name)) {
      this.#counting.add(name)
      // After a failure a later query counts again.
      void this.#count(database, tenant, handler)
        .catch(() => {})
        .finally(() => this.#counting.delete(name))
    }
    return known.count
  }

  async #count(database: Database, tenant: TenantId, handler: string | null): Promise<number> {
    const [statement, values] = handler === null ? [TOTAL, [tenant]] : [TOTAL_OF, [tenant, handler]]
    const rows = await database.query<{ count: number }>(statement, values)
    const count = rows[0]?.count ?? 0
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(JSON.stringify([tenant, handler]), { count, countedAt: performance.now() })
    return count
  }
}

/** Successes are all runs without another status. The total is counted first, so that a run that starts in between is not counted as one. */
export const countRuns = async (
  database: Database,
  totals: RunTotals,
  tenant: TenantId,
  handler: string | null,
): Promise<ReadonlyMap<RunStatus, number>> => {
  const total = await totals.of(database, tenant, handler)
  const values = [tenant, OTHERS]
  const [statement, which] = handler === null ? [COUNTS, values] : [COUNTS_OF, [...values, handler]]
  const rows = await database.query<{ status: RunStatus; count: number }>(statement, which)
  const found = new Map<RunStatus, number>()
  let others = 0
  for (const { status, count } of rows) {
    if (count === 0) continue
    found.set(status, (found.get(status) ?? 0) + count)
    others += count
  }
  if (total > others) found.set(SUCCESS, (found.get(SUCCESS) ?? 0) + total - others)
  return found
}
