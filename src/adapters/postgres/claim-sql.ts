/**
 * The statements with which due runs are found and leased.
 *
 * Owns which index leads to them. Runs of the plain lane are leased by one statement. If a run of another lane is due as well, that
 * statement leases nothing and says so: slots and turns decide then, and claim.ts asks on.
 *
 * Rows are changed by a list of ids, never by a join: see append-sql.ts. `lane > ''` is written as the indexes of lanes have it.
 */
import type { Statement } from './pool.ts'
import { EVENT_COLUMNS, type EventRow, SESSION, type StreamRow } from './rows.ts'

/** A claimed stream as it is now. */
export interface ClaimedRow extends StreamRow {
  /** Its place among the claims. */
  readonly place: number
  /** Type, instant, body and hash of each fact; null for a run with many, which is loaded. */
  readonly facts: readonly (readonly [string, number, string, string])[] | null
  readonly trigger: EventRow | null
}

/** There is always a row to tell the rest; where nothing was claimed it has no id. */
export type ClaimRow = (ClaimedRow | { readonly id: null }) & {
  readonly next_due_at: number | null
  /** Nothing was leased, because runs of lanes are due. */
  readonly is_due_in_lanes: boolean
}

/** Runs with more facts than this are loaded apart: one answer must not become too large to be read. */
const MOST_FACTS = 100

const PARKED = `kind <> ${SESSION} and wake_at is not null and lease is null`

/** `trihand_now()` is stable, so that it serves as a bound of the index; clock_timestamp() would read every row. */
const NOW = 'coalesce($1::bigint, trihand_now())'

const OLDEST = 'order by wake_at, id limit'

/** Parked runs of the plain lane, the oldest wakes of each handler. */
const ofEach = (handlers: string, which: string): string => `unnest(${handlers}) as h(name),
    lateral (select id, wake_at from stream where handler = h.name and lane = '' and ${PARKED} ${which}) s`

const later = (handlers: string | null): string => {
  const others = 'and id not in (select unnest(ids) from chosen)'
  return handlers === null
    ? `select wake_at from stream where lane = '' and ${PARKED} ${others} ${OLDEST} 1`
    : `select s.wake_at from ${ofEach(handlers, `${others} ${OLDEST} 1`)} order by s.wake_at limit 1`
}

/** Leases the `chosen` to $2 and tells when the next run falls due; who is due in a lane waits for room, not for time. */
const lease = (handlers: string | null): string => `
  claimed as (
    update stream set lease = $2, epoch = epoch + 1, wake_at = null where id = any((select ids from chosen)::uuid[])
    returning *),
  later as (${later(handlers)}),
  later_in_lanes as (
    select wake_at from stream where lane > '' and ${PARKED} and wake_at > ${NOW}
      ${handlers === null ? '' : `and handler = any(${handlers})`} order by wake_at limit 1)
  select c.*, array_position((select ids from chosen), c.id) as place, (select is_due from in_lanes) as is_due_in_lanes,
    least((select wake_at from later), (select wake_at from later_in_lanes)) as next_due_at,
    case when version <= ${MOST_FACTS} then (
      select json_agg(json_build_array(type, recorded_at, body, hash) order by seq) from fact where stream = c.id) end as facts,
    (select row_to_json(e) from (select ${EVENT_COLUMNS} from event where seq = c.event) e) as trigger
  from (values (0)) as always left join claimed c on true`

/** Leases the oldest of `due`, at most $3; none if there is a run in a lane that `which` describes. */
const claim = (name: string, due: (limit: string) => string, which: string, handlers: string | null): Statement => ({
  name,
  text: `with in_lanes as materialized (
    select exists (select from stream where lane > '' and ${PARKED} and wake_at <= ${NOW} ${which}) as is_due),
  due as materialized (${due('(select case when is_due then 0 else $3::int end from in_lanes)')}),
  chosen as materialized (select array(select id from due order by wake_at, id) as ids),${lease(handlers)}`,
})

const HANDLERS = '$4::text[]'
const DUE = `and wake_at <= ${NOW} ${OLDEST}`

/** Now, worker, limit. */
export const CLAIM_DUE = claim(
  'claim_due',
  (limit) => `select id, wake_at from stream where lane = '' and ${PARKED} ${DUE} ${limit} for update skip locked`,
  '',
  null,
)

/** Now, worker, limit, handlers. */
export const CLAIM_OF_HANDLERS = claim(
  'claim_of_handlers',
  (limit) => `select s.id, s.wake_at from ${ofEach(HANDLERS, `${DUE} ${limit} for update skip locked`)}
    order by s.wake_at, s.id limit ${limit}`,
  `and handler = any(${HANDLERS})`,
  HANDLERS,
)

const named = (handlers: string, ids: string): string =>
  `and id = any(${ids}::uuid[]) and (${handlers} is null or handler = any(${handlers}))`
const NAMED = named(HANDLERS, '$5')

/** Now, worker, limit, handlers or null, ids. */
export const CLAIM_NAMED = claim(
  'claim_named',
  (limit) =>
    `select id, wake_at from stream where lane = '' and ${PARKED} ${NAMED} ${DUE} ${limit} for update skip locked`,
  NAMED,
  null,
)

/** Claims that look at slots come one after the other. In a statement of its own: what comes next sees who came before. */
export const LOCK_LANES: Statement = {
  name: 'lock_lanes',
  text: 'select pg_advisory_xact_lock($1::int, hashtext(current_schema()))',
}

/** Now. The lanes in which somebody is due, from one to the next, and those of the live leases. */
export const SURVEY_LANES: Statement = {
  name: 'survey_lanes',
  text: `with recursive waiting as (
    (select lane, wake_at from stream where lane > '' and ${PARKED} order by lane, wake_at limit 1)
    union all select n.lane, n.wake_at from waiting w,
      lateral (select lane, wake_at from stream where lane > w.lane and ${PARKED} order by lane, wake_at limit 1) n)
  select lane, 0 as held from waiting where wake_at <= ${NOW}
  union all select lane, count(*)::int from stream where lane > '' and lease is not null group by lane`,
}

export interface DueRow {
  readonly id: string
  readonly wake_at: number
  readonly lane: string
}

const firsts = (lists: string, which: string): string => `select s.id, s.wake_at, s.lane from unnest(${lists},
  lateral (select id, wake_at, lane from stream where lane = l.lane ${which} and ${PARKED} ${DUE} l.room for update skip locked) s`

/** Now, lanes, how many of each. The plain lane may be among them. */
export const FIRST_IN_LANES: Statement = {
  name: 'first_in_lanes',
  text: firsts('$2::text[], $3::int[]) as l(lane, room)', ''),
}

/** Now, lanes, how many of each, the handler of each. */
export const FIRST_IN_LANES_OF_HANDLERS: Statement = {
  name: 'first_in_lanes_of_handlers',
  text: firsts('$2::text[], $3::int[], $4::text[]) as l(lane, room, handler)', 'and handler = l.handler'),
}

/** Now, handlers or null, ids. */
export const FIND_NAMED: Statement = {
  name: 'find_named',
  text: `select id, wake_at, lane from stream where ${PARKED} and wake_at <= ${NOW} ${named('$2::text[]', '$3')} for update skip locked`,
}

const GIVEN = `with in_lanes as (select false as is_due), chosen as materialized (select $3::uuid[] as ids),`

/** Now, worker, ids. */
export const LEASE: Statement = { name: 'lease', text: `${GIVEN}${lease(null)}` }

/** Now, worker, ids, handlers. */
export const LEASE_OF_HANDLERS: Statement = { name: 'lease_of_handlers', text: `${GIVEN}${lease(HANDLERS)}` }
