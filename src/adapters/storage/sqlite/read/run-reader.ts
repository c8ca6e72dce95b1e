/**
 * Queries on runs that must not read all of them: pages by status, handler and session, counts.
 *
 * Owns their SQL and which index each uses: without statistics SQLite would choose a wrong one. All runs are counted once, and after that
 * only new ones, because runs are never removed. So the successes, which are most of them, are not counted.
 */
import { LIMIT, type Preparer, type Row, type Value } from '#adapters/storage/sqlite/driver.ts'
import { idBytes, RUN, rowAs } from '#adapters/storage/sqlite/rows.ts'
import { VERSION } from '#adapters/storage/sqlite/statements.ts'
import type { TenantId } from '#model/kernel/ids.ts'
import { type NewestCounts, newestCounts, type RunCount } from '#model/run/newest-counts.ts'
import { RUN_STATUSES, type RunStatus } from '#model/run/status.ts'
import type { RunQuery } from '#ports/reader.ts'

export const SUMMARY = `select s.id, s.handler, s.status, s.session, s.parent, s.event, ${VERSION}, s.wake_at, s.lease, s.created_at, s.key`
const PARKED = `s.kind = ${RUN} and s.lease is null`
const PAGE = `and s.key < ? order by s.key desc ${LIMIT}`
const SUCCESS: RunStatus = 'success'
const OTHERS = RUN_STATUSES.filter((status) => status !== SUCCESS)
  .map((status) => `('${status}')`)
  .join()

/** Reads runs without a lease from their index; those with one are few, and sorted. */
const ofStatus = (and: string): string => `select * from (
    select * from (${SUMMARY} from stream s indexed by stream_status where s.tenant = ? and s.status = ? ${and} and ${PARKED} ${PAGE})
    union all
    select * from (${SUMMARY} from stream s indexed by stream_lease where s.lease is not null and s.tenant = ? and s.status = ? ${and}
      and s.kind = ${RUN} ${PAGE}))
  order by key desc ${LIMIT}`

const countOf = (index: string, which: string): string =>
  `select count(*) as count, coalesce(max(key), 0) as last from stream ${index} where tenant = ? and kind = ${RUN} ${which}`

/** Counts status by status: no grouping of rows is needed. */
const countsOf = (and: string): string => `
  select wanted.column1 as status, (select count(*) from stream s indexed by stream_status
    where s.tenant = ? ${and} and ${PARKED} and s.status = wanted.column1) as count from (values ${OTHERS}) wanted
  union all
  select status, count(*) as count from stream s indexed by stream_lease where s.lease is not null and s.tenant = ? ${and}
    and s.kind = ${RUN} group by status`

export const prepareRunQueries = (db: Preparer) => ({
  keyOf: db.prepare('select key from stream where id = ?'),
  newestRuns: db.prepare(`${SUMMARY} from stream s not indexed where s.tenant = ? and s.kind = ${RUN} ${PAGE}`),
  runsOfStatus: db.prepare(ofStatus('')),
  runsOfBoth: db.prepare(ofStatus('and s.handler = ?')),
  runsOfHandler: db.prepare(
    `${SUMMARY} from stream s indexed by stream_handler where s.tenant = ? and s.kind = ${RUN} and s.handler = ? ${PAGE}`,
  ),
  runsOfSession: db.prepare(
    `${SUMMARY} from stream s indexed by stream_of_session where s.session = ? and s.tenant = ? and s.kind = ${RUN}
      and (? is null or s.status = ?) and (? is null or s.handler = ?) ${PAGE}`,
  ),
  counts: db.prepare(countsOf('')),
  countsOfHandler: db.prepare(countsOf('and s.handler = ?')),
  newestRunsOfStatus: db.prepare(`select handler, count(*) as count from (
    select s.handler from stream s indexed by stream_status where s.tenant = ? and s.status = ? and ${PARKED} order by s.key desc ${LIMIT})
    group by handler`),
  countHeldRuns: db.prepare(`select s.handler, s.status, count(*) as count from stream s indexed by stream_lease
    where s.lease is not null and s.tenant = ? and s.kind = ${RUN} group by s.handler, s.status`),
  total: db.prepare(countOf('indexed by stream_handler', '')),
  totalAfter: db.prepare(countOf('not indexed', 'and key > ?')),
  totalOf: db.prepare(countOf('indexed by stream_handler', 'and handler = ? and key > ?')),
})

type RunQueries = ReturnType<typeof prepareRunQueries>

export const readRuns = (sql: RunQueries, query: RunQuery): readonly Row[] => {
  const { tenant, status, handler, session = null, before, limit } = query
  const below = before === null ? Number.MAX_SAFE_INTEGER : Number(sql.keyOf.get(idBytes(before))?.['key'] ?? 0)
  const page = [below, limit]
  if (session !== null)
    return sql.runsOfSession.all(idBytes(session), tenant, status, status, handler, handler, ...page)
  if (status === null)
    return handler === null ? sql.newestRuns.all(tenant, ...page) : sql.runsOfHandler.all(tenant, handler, ...page)
  if (handler === null) return sql.runsOfStatus.all(tenant, status, ...page, tenant, status, ...page, limit)
  const both: Value[] = [tenant, status, handler, ...page]
  return sql.runsOfBoth.all(...both, ...both, limit)
}

export const countNewest = (sql: RunQueries, tenant: TenantId, most: number): NewestCounts => {
  const parked = RUN_STATUSES.flatMap((status) =>
    sql.newestRunsOfStatus.all(tenant, status, most).map((row) => ({ ...rowAs<RunCount>(row), status })),
  )
  return newestCounts(parked, sql.countHeldRuns.all(tenant).map(rowAs<RunCount>), most)
}

/** Most tenants and handlers that are remembered. */
const MAX_KNOWN = 1_000

/** The number of runs: the last count plus the runs that are new since then. */
export class RunTotals {
  readonly #known = new Map<string, { readonly count: number; readonly last: number }>()

  of(sql: RunQueries, tenant: TenantId, handler: string | null): number {
    const name = JSON.stringify([tenant, handler])
    const known = this.#known.get(name)
    const row = this.#ask(sql, tenant, handler, known?.last)
    const count = (known?.count ?? 0) + Number(row?.['count'] ?? 0)
    if (this.#known.size >= MAX_KNOWN) this.#known.clear()
    this.#known.set(name, { count, last: Math.max(known?.last ?? 0, Number(row?.['last'] ?? 0)) })
    return count
  }

  #ask(sql: RunQueries, tenant: TenantId, handler: string | null, last: number | undefined): Row | undefined {
    if (handler !== null) return sql.totalOf.get(tenant, handler, last ?? 0)
    return last === undefined ? sql.total.get(tenant) : sql.totalAfter.get(tenant, last)
  }
}

/** Successes are all runs without another status. The total is counted first, so that a run that starts in between is not counted as one. */
export const countRuns = (
  sql: RunQueries,
  totals: RunTotals,
  tenant: TenantId,
  handler: string | null,
): ReadonlyMap<RunStatus, number> => {
  const total = totals.of(sql, tenant, handler)
  const rows =
    handler === null ? sql.counts.all(tenant, tenant) : sql.countsOfHandler.all(tenant, handler, tenant, handler)
  const counts = new Map<RunStatus, number>()
  let others = 0
  for (const row of rows) {
    const [status, count] = [row['status'] as RunStatus, Number(row['count'])]
    if (count === 0) continue
    counts.set(status, (counts.get(status) ?? 0) + count)
    others += count
  }
  if (total > others) counts.set(SUCCESS, (counts.get(SUCCESS) ?? 0) + total - others)
  return counts
}
