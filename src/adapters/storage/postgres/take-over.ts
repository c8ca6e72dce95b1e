/**
 * Takes over runs of versions without a live worker: pins them to the version of a worker that has their handlers (ledger-10).
 *
 * Owns the statement. It begins with the versions of parked runs, found one after another in the index: where all runs have the taker's
 * version it reads nothing else. Takes all parked runs of a version without workers, due or not, so that the statement's cost is
 * proportional to what it takes.
 */
import type { Instant } from '#model/kernel/ids.ts'
import type { ClaimRequest } from '#ports/ledger.ts'
import type { Database, Statement } from './pool.ts'
import { SESSION } from './rows.ts'

/** Most runs per claim, so that no row is locked for long. The next claim takes more. */
const MOST = 1_000

const PARKED = `kind <> ${SESSION} and wake_at is not null and lease is null`

/** Values: now, version, handlers, after how long each is taken from live workers, which handlers are free of versions. */
const TAKE_OVER: Statement = {
  name: 'take_over',
  text: `with recursive other as (
    (select system_hash as version from stream where ${PARKED} order by system_hash limit 1)
    union all select (select system_hash from stream where system_hash > other.version and ${PARKED} order by system_hash limit 1)
      from other where other.version is not null),
  living as materialized (
    select info ->> 'version' as version, info -> 'handlers' as handlers from (select info::jsonb as info from worker where info is not null) w
    where not coalesce((info ->> 'drains')::boolean, false) and info ->> 'halt' is null),
  pair as materialized (
    select o.version, h.name, h.after, exists (select from living l where l.version = o.version
      and (l.handlers is null or jsonb_typeof(l.handlers) <> 'array' or l.handlers ? h.name)) as is_served
    from other o, unnest($3::text[], $4::bigint[]) as h(name, after)
    where o.version <> $2 and not (o.version = '' and h.name = any($5::text[]))),
  orphan as (
    select s.id from pair p, lateral (select id from stream where handler = p.name and system_hash = p.version and ${PARKED}
      limit ${MOST} for update skip locked) s where not p.is_served limit ${MOST}),
  overdue as (
    select s.id from pair p, lateral (select id from stream where handler = p.name and system_hash = p.version and lane = '' and ${PARKED}
      and wake_at <= coalesce($1::bigint, trihand_now()) - p.after order by wake_at, id limit ${MOST} for update skip locked) s
    where p.is_served limit ${MOST}),
  taken as (
    update stream set born_hash = case when epoch > 0 then coalesce(born_hash, system_hash) else born_hash end, system_hash = $2
    where id = any(array(select id from orphan union select id from overdue)) returning 1)
  select count(*)::int as count from taken`,
}

type Request = Pick<ClaimRequest, 'taker'> & { readonly now: Instant | null }

/** Returns the number of runs taken. */
export const takeOver = async (database: Database, { taker, now }: Request): Promise<number> => {
  const { version, takesOver = [] } = taker ?? {}
  if (version === undefined || takesOver.length === 0) return 0
  const names = takesOver.map(({ handler }) => handler)
  const after = takesOver.map(({ afterMs }) => afterMs)
  const free = takesOver.flatMap(({ handler, isFree }) => (isFree ? handler : []))
  const [row] = await database.query<{ readonly count: number }>(TAKE_OVER, [now, version, names, after, free])
  return row?.count ?? 0
}
