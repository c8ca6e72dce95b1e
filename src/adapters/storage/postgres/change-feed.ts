/**
 * Changes of a ledger that several processes write: reads what append-sql.ts has recorded for every transaction.
 *
 * Owns the reading, and how many rows are kept. A younger transaction may commit before an older one, so a row counts only once every
 * transaction with a lower number has ended: below the oldest open one no row can appear any more. So an unrelated transaction that
 * writes for a long time somewhere in the cluster delays the changes, and loses none.
 */
import type { StreamId, TenantId } from '#model/kernel/ids.ts'
import type { Change, ChangeFeed, ChangePage, ChangePosition } from '#ports/change-feed.ts'
import type { ChangeHints } from './change-hints.ts'
import type { Database, Statement } from './pool.ts'
import { type StreamRow, toStreamId } from './rows.ts'

/** A reader that is further behind than this must read everything instead. */
const MOST = 1_000
/** Enough rows for a reader that is not too far behind already. */
const KEPT = 2 * MOST

const HORIZON = 'pg_snapshot_xmin(pg_current_snapshot())'

/** Names this incarnation of the table: a copy of the database in another cluster counts its transactions anew. */
const LIFE = '(select left(md5(system_identifier || name), 12) from pg_control_system(), news_life)'

/** A new reader must get a position that is not before the first row: rows before that may have been deleted. */
const MARK: Statement = {
  name: 'mark_news',
  text: `with life as (insert into news_life select where not exists (select from news_life) on conflict do nothing)
    insert into news (streams, tenants) select '{}', '{}' where not exists (select from news)`,
}
const BEGIN: Statement = {
  name: 'begin_news',
  text: `select ${HORIZON}::text::bigint as horizon, ${LIFE} as life`,
}

/** One statement and hence one snapshot decides what is lost, what is final and what is there. */
const SINCE: Statement = {
  name: 'news_since',
  text: `
  with moment as materialized (select ${HORIZON} as horizon, $3::text::xid8 as seen),
  span as materialized (
    select horizon, seen, seen > horizon or coalesce(${LIFE} <> $2, true) or coalesce((select xid from news order by xid limit 1) > seen, true)
      or (select xid from news where xid > seen and xid < horizon order by xid offset ${MOST} limit 1) is not null as is_lost
    from moment)
  select span.horizon::text::bigint as horizon, span.is_lost, told.xid::text::bigint as at, told.place, told.id, told.kind
  from span left join lateral (
    select n.xid, one.place, one.id, one.kind
    from (select * from news where not span.is_lost and xid >= span.seen and xid < span.horizon order by xid limit ${MOST + 1}) n,
      lateral (
        select 0 as place, null::uuid as id, null::smallint as kind where $1 = any(n.tenants)
        union all
        select u.place, s.id, s.kind from unnest(n.streams) with ordinality as u(id, place),
          lateral (select s.id, s.kind from stream s where s.id = u.id and s.tenant = $1 offset 0) s) one
    where n.xid > span.seen or one.place >= $4::bigint
    order by n.xid, one.place limit ${MOST + 1}) told on true
  order by told.xid, told.place`,
}

/** Skips rows that another process has locked for the same deletion. */
export const FORGET_NEWS: Statement = {
  name: 'forget_news',
  text: `
  delete from news where xid = any(array(
    select xid from news where xid < (select xid from news order by xid desc offset ${KEPT} limit 1) for update skip locked))`,
}

interface ChangeRow extends Pick<StreamRow, 'kind'> {
  readonly horizon: number
  readonly is_lost: boolean
  /** Null: there are no changes. */
  readonly at: number | null
  readonly place: number
  readonly id: string | null
}

const toItem = (life: string, at: number, { place, id, kind }: ChangeRow): Change => ({
  stream: id === null ? null : toStreamId({ id, kind }),
  next: { life, at, place: place + 1 },
})

export class PostgresChangeFeed implements ChangeFeed {
  readonly #database: Database
  readonly #hints: ChangeHints | null

  constructor(database: Database, hints: ChangeHints | null = null) {
    this.#database = database
    this.#hints = hints
  }

  follow(stream: StreamId, listener: () => void): () => void {
    return this.#hints?.follow(stream, listener) ?? (() => {})
  }

  async begin(): Promise<ChangePosition> {
    await this.#database.query(MARK, [])
    const [row] = await this.#database.query<{ horizon: number; life: string }>(BEGIN, [])
    return { life: row?.life ?? '', at: row?.horizon ?? 0, place: 0 }
  }

  async since(tenant: TenantId, { life, at, place }: ChangePosition): Promise<ChangePage | null> {
    const rows = await this.#database.query<ChangeRow>(SINCE, [tenant, life, String(at), place])
    const [first] = rows
    if (first === undefined || first.is_lost || rows.length > MOST) return null
    const items = rows.flatMap((row) => (row.at === null ? [] : [toItem(life, row.at, row)]))
    return { items, next: { life, at: first.horizon, place: 0 } }
  }
}
