/**
 * The statements that find and lease due runs.
 *
 * Owns which index they use. One statement leases runs of the plain lane. If a run of another lane is due as well, that statement leases
 * nothing and reports it: then slots and turns decide (lane.ts), and claim.ts continues.
 *
 * Rows are changed by a list of ids, never by a join: see append-sql.ts. `lane > ''` is written as in the indexes of lanes.
 */
import type { Statement } from '#adapters/storage/postgres/pool.ts'
import { EVENT_COLUMNS, type EventRow, SESSION, type StreamRow } from '#adapters/storage/postgres/rows.ts'

/** A claimed stream as it is now. */
export interface ClaimedRow extends StreamRow {
  /** Its position among the claims. */
  readonly place: number
  /** Type, instant, body and hash of each fact; null for a run with many facts, which is loaded separately. */
  readonly facts: readonly (readonly [string, number, string, string])[] | null
  readonly trigger: EventRow | null
}

/** There is always a row for the common columns; if nothing was claimed it has no id. */
export type ClaimRow = (ClaimedRow | { readonly id: null }) & {
  readonly next_due_at: number | null
  /** Nothing was leased, because runs of lanes are due. */
  readonly is_due_in_lanes: boolean
}

/** The facts of longer runs are loaded separately, so that one answer does not become too large. */
const MOST_FACTS = 100

const PARKED = `kind <> ${SESSION} and wake_at is not null and lease is null`

/** `trihand_now()` is stable, so that it can be a bound of an index; clock_timestamp() would read every row. */
const NOW = 'coalesce($1::bigint, trihand_now())'

const OLDEST = 'order by wake_at, id limit'

/** `version`: the placeholder of the version that the runs are pinned to; null: any version. */
const pinnedTo = (version: string | null): string => (version === null ? '' : `and system_hash = ${version}`)

/** Parked runs of the plain lane, the oldest wakes of each handler. */
const ofEach = (handlers: string, which: string): string => `unnest(${handlers}) as h(name),
    lateral (select id, wake_at from stream where handler = h.name and lane = '' and ${PARKED} ${which}) s`

const later = (handlers: string | null, version: string | null): string => {
  const others = `${pinnedTo(version)} and id not in (select unnest(ids) from chosen)`
  return handlers === null
    ? `select wake_at from stream where lane = '' and ${PARKED} ${others} ${OLDEST} 1`
    : `select s.wake_at from ${ofEach(handlers, `${others} ${OLDEST} 1`)} order by s.wake_at limit 1`
}

/** Leases the `chosen` to $2 and returns when the next run falls due; a run that is due in a lane waits for room, not for time. */
const lease = (handlers: string | null, version: string | null): string => `
  claimed as (
    update stream set lease = $2, epoch = epoch + 1, wake_at = null where id = any((select ids from chosen)::uuid[])
    returning *),
  later as (${later(handlers, version)}),
  later_in_lanes as (
    select wake_at from stream where lane > '' and ${PARKED} and wake_at > ${NOW} ${pinnedTo(version)}
      ${handlers === null ? '' : `and handler = any(${handlers})`} order by wake_at limit 1)
  select c.*, array_position((select ids from chosen), c.id) as place, (select is_due from in_lanes) as is_due_in_lanes,
    least((select wake_at from later), (select wake_at from later_in_lanes)) as next_due_at,
    case when version <= ${MOST_FACTS} then (
      select json_agg(json_build_array(type, recorded_at, body, hash) order by seq) from fact where stream = c.id) end as facts,
    (select row_to_json(e) from (select ${EVENT_COLUMNS} from event where seq = c.event) e) as trigger
  from (values (0)) as always left join claimed c on true`

interface Search {
  readonly name: string
  readonly due: (limit: string) => string
  /** Selects the runs in lanes that the claim is about. */
  readonly which: string
  readonly handlers: string | null
  readonly version: string | null
}

/** Leases the oldest of `due`, at most $3; none if a run in a lane that matches `which` is due. */
const claim = ({ name, due, which, handlers, version }: Search): Statement => ({
  name,
  text: `with in_lanes as materialized (
    select exists (select from stream where lane > '' and ${PARKED} and wake_at <= ${NOW} ${which} ${pinnedTo(version)}) as is_due),
  due as materialized (${due('(select case when is_due then 0 else $3::int end from in_lanes)')}),
  chosen as materialized (select array(select id from due order by wake_at, id) as ids),${lease(handlers, version)}`,
})

const HANDLERS = '$4::text[]'
const DUE = `and wake_at <= ${NOW} ${OLDEST}`

const named = (handlers: string, ids: string): string =>
  `and id = any(${ids}::uuid[]) and (${handlers} is null or handler = any(${handlers}))`
const NAMED = named(HANDLERS, '$5')

/** Serialises claims that read slots. A statement of its own, so that the next statement sees the claims before. */
export const LOCK_LANES: Statement = {
  name: 'lock_lanes',
  text: 'select pg_advisory_xact_lock($1::int, hashtext(current_schema()))',
}

export interface DueRow {
  readonly id: string
  readonly wake_at: number
  readonly lane: string
}

const firsts = (lists: string, which: string): string => `select s.id, s.wake_at, s.lane from unnest(${lists},
  lateral (select id, wake_at, lane from stream where lane = l.lane ${which} and ${PARKED} ${DUE} l.room for update skip locked) s`

const GIVEN = `with in_lanes as (select false as is_due), chosen as materialized (select $3::uuid[] as ids),`

/** The lanes in which a run is due, found one after another, and the lanes of the live leases. */
const survey = (version: string | null): string => {
  const first = `${PARKED} ${pinnedTo(version)} order by lane, wake_at limit 1`
  return `with recursive waiting as (
    (select lane, wake_at from stream where lane > '' and ${first})
    union all select n.lane, n.wake_at from waiting w,
      lateral (select lane, wake_at from stream where lane > w.lane and ${first}) n)
  select lane, 0 as held from waiting where wake_at <= ${NOW}
  union all select lane, count(*)::int from stream where lane > '' and lease is not null group by lane`
}

/**
 * The statements of a claim: for runs of one version, which is then the last value of each statement, or of any version. The first value
 * is always the instant.
 */
const statements = (isPinned: boolean) => {
  const prefix = isPinned ? 'pinned_' : ''
  const last = (place: string): string | null => (isPinned ? place : null)
  const skip = 'for update skip locked'
  return {
    /** Values: now, worker, limit. */
    due: claim({
      name: `${prefix}claim_due`,
      due: (limit) =>
        `select id, wake_at from stream where lane = '' and ${PARKED} ${pinnedTo(last('$4'))} ${DUE} ${limit} ${skip}`,
      which: '',
      handlers: null,
      version: last('$4'),
    }),
    /** Values: now, worker, limit, handlers. */
    ofHandlers: claim({
      name: `${prefix}claim_of_handlers`,
      due: (
        limit,
      ) => `select s.id, s.wake_at from ${ofEach(HANDLERS, `${pinnedTo(last('$5'))} ${DUE} ${limit} ${skip}`)}
    order by s.wake_at, s.id limit ${limit}`,
      which: `and handler = any(${HANDLERS})`,
      handlers: HANDLERS,
      version: last('$5'),
    }),
    /** Values: now, worker, limit, handlers or null, ids. */
    named: claim({
      name: `${prefix}claim_named`,
      due: (limit) =>
        `select id, wake_at from stream where lane = '' and ${PARKED} ${NAMED} ${pinnedTo(last('$6'))} ${DUE} ${limit} ${skip}`,
      which: NAMED,
      handlers: null,
      version: last('$6'),
    }),
    /** Values: now. */
    surveyLanes: { name: `${prefix}survey_lanes`, text: survey(last('$2')) },
    /** Values: now, lanes, how many of each. The plain lane may be among them. */
    firstInLanes: {
      name: `${prefix}first_in_lanes`,
      text: firsts('$2::text[], $3::int[]) as l(lane, room)', pinnedTo(last('$4'))),
    },
    /** Values: now, lanes, how many of each, the handler of each. */
    firstInLanesOfHandlers: {
      name: `${prefix}first_in_lanes_of_handlers`,
      text: firsts(
        '$2::text[], $3::int[], $4::text[]) as l(lane, room, handler)',
        `and handler = l.handler ${pinnedTo(last('$5'))}`,
      ),
    },
    /** Values: now, handlers or null, ids. */
    findNamed: {
      name: `${prefix}find_named`,
      text: `select id, wake_at, lane from stream where ${PARKED} and wake_at <= ${NOW} ${named('$2::text[]', '$3')}
        ${pinnedTo(last('$4'))} ${skip}`,
    },
    /** Values: now, worker, ids. */
    lease: { name: `${prefix}lease`, text: `${GIVEN}${lease(null, last('$4'))}` },
    /** Values: now, worker, ids, handlers. */
    leaseOfHandlers: { name: `${prefix}lease_of_handlers`, text: `${GIVEN}${lease(HANDLERS, last('$5'))}` },
  } satisfies Readonly<Record<string, Statement>>
}

export const OF_ANY_VERSION = statements(false)
export const OF_ONE_VERSION = statements(true)
