/**
 * The statement that writes a batch: it locks, checks, writes and reports the losers, in one round trip.
 *
 * Owns the fence (ledger-4) and the choice of signalled streams. Its text is made of parts: a batch that opens no wait has no part about
 * waits.
 *
 * Traps:
 * - All parts of a statement see the tables as they were at its start, also those that other parts change.
 * - One statement changes a row once. So a stream that is written and signalled by one batch is changed by one update.
 * - `locked` returns the rows as they are once the lock is held, not as they were at the start.
 * - Rows are locked in the order of their ids, whatever the order of the batch, so that two batches never deadlock.
 * - Plans are made once, perhaps on empty tables (pool.ts). A plain join of a list with a table may then be planned as a scan of the
 *   table, which is fine on the first day and ruinous on the second. So the list always drives: tables are read by a lateral or
 *   scalar subquery, and lists are compared with each other only by `x not in (select …)`, which is a hash lookup.
 */
import { waitHash } from '#adapters/storage/migrations/0014-any-keys.ts'
import type { Statement } from '#adapters/storage/postgres/pool.ts'
import { SESSION, versionOf } from '#adapters/storage/postgres/rows.ts'
import { isEnded, RUN_STATUSES } from '#model/run/status.ts'
import { type Shape, wins } from './shape.ts'
import { opened, WAITS_OPENED, waitsClosed } from './wait-sql.ts'

/** One row of the answer. */
export interface AnswerRow {
  readonly kind: 'position' | 'lost' | 'event' | 'signalled' | 'unknown_path'
  readonly append: number | null
  readonly seq: number | null
  readonly stream: string | null
  readonly type: string | null
  readonly path: string | null
}

const ENDED = RUN_STATUSES.filter(isEnded)
  .map((status) => `'${status}'`)
  .join(', ')

const STREAM_COLUMNS = `id, kind, tenant, handler, system_hash, session, parent, event, base, version, epoch, signal, head_hash, status,
  wake_at, lease, recoveries, created_at, lane`

/** Not `max`: on a table that seems small the planner would read all of an index for it. */
export const LAST_SEQUENCE = 'select coalesce((select seq from event order by seq desc limit 1), 0) as at'

/**
 * The paths of waits for these types for which the events' values were not extracted. The empty path, of waits for the type alone, counts
 * while such a wait is open; any other path counts for ever, because later waits look up earlier events by their values (values.ts).
 */
const unknownPath = (shape: Shape): string => `unknown_path as materialized (
  select * from (select distinct type from numbered) t,
    lateral (
      select '' as path where (select w.type from wait w where w.type = t.type and w.path = '' limit 1) is not null
      union all select p.path from wait_path p where p.type = t.type) p
  ${shape.has('known_path') ? `where (t.type, p.path) not in (select type, path from ${shape.table('known_path')})` : ''})`

/** A sequence is drawn for every event, also for those of losers: gaps do no harm. The name is the one that `identity` creates. */
const eventParts = (shape: Shape): string[] => [
  `numbered as materialized (
    select o.*, nextval('event_seq_seq') as seq from (select * from ${shape.table('occurrence')} order by ord) o)`,
  'drawn as materialized (select array_agg(seq order by ord) as seqs from numbered)',
  unknownPath(shape),
  ...(shape.has('carried') ? [`carried as materialized (select * from ${shape.table('carried')})`] : []),
]

/** `offset 0` keeps the subquery from becoming part of a join. Values of any length are found by their hash, and then compared. */
const WAITING = `select carried.append, w.stream, carried.due from carried,
  lateral (select w.stream from wait w where w.type = carried.type and w.path = carried.path
    and ${waitHash('w.value')} = ${waitHash('carried.value')} and w.value = carried.value offset 0) w
  where carried.tenant = (select s.tenant from stream s where s.id = w.stream)`

/** Which append signals which stream: the append names it, or the stream waits for one of its events. */
const wakeup = (shape: Shape): string => {
  const sources = [
    ...(shape.has('signal') ? [`select append, stream, due from ${shape.table('signal')}`] : []),
    ...(shape.has('carried') ? [WAITING] : []),
  ]
  return `wakeup as materialized (select distinct * from (${sources.join(' union all ')}) n)`
}

/** The streams to lock: those that are written, and those that are only signalled. */
const WRITTEN = 'select g.*, g.stream as target, g.due as at_once from guard g'
const WRITTEN_OR_WOKEN = `
  select g.*, coalesce(g.stream, n.stream) as target, least(g.due, n.due) as at_once, n.stream is not null as is_woken
  from guard g full join (select stream, min(due) as due from wakeup group by stream) n on n.stream = g.stream`

/** The version according to the facts: a row with a lease may lag behind them (rows.ts). After a wait for the lock the row may be newer. */
const FACTS = versionOf('s')

/** A write of the holder that only adds facts leaves the row alone: the next release, or whatever takes the lease, updates it (leased-runs.ts). */
const STANDS_STILL = `coalesce(w.fence is not null and not w.release and w.added > 0 and w.to_status = s.status
  and s.lease is not null and s.recoveries = 0, false)`

const lockParts = (shape: Shape): string[] => [
  `guard as materialized (select * from ${shape.table('guard')})`,
  ...(shape.wakeups ? [wakeup(shape)] : []),
  `locked as materialized (
    select w.*, s.*, ${FACTS} as facts, ${STANDS_STILL} as stands_still
    from (${shape.wakeups ? WRITTEN_OR_WOKEN : WRITTEN} order by target) w,
      lateral (select * from stream s where s.id = w.target for update) s)`,
]

/** A write without facts that finds the lease already released at its own epoch is a repeat (ledger-3). */
const LOST_BY_FENCE = [
  `select append from locked where append is not null
    and (facts <> expected or epoch <> fence or (newsless and lease is null and epoch = fence))`,
  'select append from guard where stream not in (select id from locked)',
]

const LOST_BY_EVENT = `select n.append from numbered n
  where (select e.id from event e where e.id = n.id and e.source = n.source and e.tenant = n.tenant) is not null`

const lost = (shape: Shape): string => {
  const reasons = [
    ...(shape.has('guard') ? LOST_BY_FENCE : []),
    ...(shape.has('creation')
      ? [
          `select append from ${shape.table('creation')} where (select s.kind from stream s where s.id = creation.id) is not null`,
        ]
      : []),
    ...(shape.has('occurrence') ? [LOST_BY_EVENT] : []),
    // Values of the events were extracted for too few paths: nothing is written, and the batch is sent again with all paths.
    ...(shape.has('occurrence')
      ? [`select place from unnest(${shape.places}) as place where exists (select from unknown_path)`]
      : []),
  ]
  return `lost as materialized (${reasons.join(' union all ')})`
}

/** The write itself opens the wait, so that the status after the write counts. */
const IS_LATE = 'is_open and id in (select stream from opened where is_late)'

/** A run that has ended is not signalled. If it ends or begins again in this batch, the order of the appends decides. */
const IS_WOKEN = `case
  when is_open and was_open then id in (select stream from wakeup where ${wins('wakeup')})
  when is_woken and (is_open or was_open) then exists (
    select from wakeup n where n.stream = o.id and ${wins('n')} and case when n.append < o.append then was_open else is_open end)
  else false end`

/** An external command never takes the lease from its holder. */
const NEXT_LEASE = 'case when release and fence is not null then null else lease end'

/**
 * The next state of each locked stream. `is_raised`: it is signalled; `has_news`: it is due at once unless it has a lease.
 * Where no stream can be signalled, only streams that are written change.
 */
const changeParts = (shape: Shape): string[] => {
  const reasons = [...(shape.has('opening') ? [IS_LATE] : []), ...(shape.wakeups ? [IS_WOKEN] : [])]
  if (reasons.length === 0) {
    return [
      `changed as materialized (
        select l.*, true as is_written, false as is_raised, to_status as next_status, ${NEXT_LEASE} as next_lease,
          to_status not in (${ENDED}) and signal > seen_signal as has_news
        from locked l where ${wins('l')})`,
    ]
  }
  return [
    `judged as materialized (select l.*, append is not null and ${wins('l')} as is_written from locked l)`,
    `raised as materialized (
      select o.*, kind <> ${SESSION} and (${reasons.map((reason) => `(${reason})`).join(' or ')}) as is_raised
      from (select j.*, status not in (${ENDED}) as was_open,
        case when is_written then to_status else status end not in (${ENDED}) as is_open from judged j) o)`,
    `changed as materialized (
      select r.*, case when is_written then to_status else status end as next_status,
        case when is_written then ${NEXT_LEASE} else lease end as next_lease,
        is_open and (is_raised or (is_written and signal > seen_signal)) as has_news
      from raised r)`,
  ]
}

/**
 * An insert that never inserts, because the rows exist and are locked: unlike an update it is driven by the list.
 *
 * The row of a step is left alone, unless it is signalled as well.
 * The holder decides at its release when the run is woken; until then no other wake counts. `least` ignores null.
 */
const UPDATED = `updated as (
  insert into stream (${STREAM_COLUMNS})
  select id, kind, tenant, handler, system_hash, session, parent, event, base,
    case when is_written then expected + added else version end, epoch, signal + is_raised::int,
    case when is_written then to_head else head_hash end, next_status,
    case
      when next_lease is not null then wake_at
      when has_news then least(case when is_written then to_wake_at else wake_at end, coalesce(at_once, trihand_now()))
      when is_written then to_wake_at
      else wake_at end,
    next_lease, case when is_written and added > 0 then 0 else recoveries end, created_at, lane
  from changed where is_raised or (is_written and not stands_still)
  on conflict (id) do update set version = excluded.version, signal = excluded.signal, head_hash = excluded.head_hash,
    status = excluded.status, wake_at = excluded.wake_at, lease = excluded.lease, recoveries = excluded.recoveries)`

/** An external command has no epoch: its facts get the epoch of the stream. */
const factsAdded = (shape: Shape): string => {
  const epoch = shape.has('guard')
    ? 'coalesce(fact.epoch, (select l.epoch from locked l where l.id = fact.stream))'
    : 'epoch'
  return `facts_added as (
    insert into fact (stream, seq, append_id, epoch, type, recorded_at, body, hash)
    select stream, seq, append_id, ${epoch}, type, recorded_at, body, hash from ${shape.table('fact')} where ${wins('fact')})`
}

const creationParts = (shape: Shape): string[] => {
  const sequence = (ord: string): string =>
    shape.has('occurrence') ? `(select seqs from drawn)[${ord}]` : 'null::bigint'
  const late = `kind <> ${SESSION} and status not in (${ENDED}) and id in (select stream from opened where is_late)`
  return [
    `born as materialized (
      select creation.*, coalesce(${sequence('event_ord')}, creation.sequence) as event, greatest((select at from position), ${sequence('last_ord')}) as latest,
        ${shape.has('opening') ? late : 'false'} as is_raised
      from ${shape.table('creation')} where ${wins('creation')})`,
    `streams_added as (
      insert into stream (${STREAM_COLUMNS})
      select id, kind, tenant, handler, system_hash, session, parent, event, coalesce(event, latest), version, epoch, is_raised::int,
        head_hash, status,
        case when lease is not null then null when is_raised then least(wake_at, coalesce(due, trihand_now())) else wake_at end,
        lease, 0, created_at, lane
      from born)`,
  ]
}

const EVENTS_ADDED = `events_added as (
  insert into event (seq, tenant, source, id, type, subject, time, correlation, causation, traceparent, hops, chain, data, data_hash, append_id, requesters)
    overriding system value
  select seq, tenant, source, id, type, subject, time, correlation, causation, traceparent, hops, chain, data, data_hash, append_id, requesters
  from numbered n where ${wins('n')})`

/** values-1 */
const VALUES_ADDED = `values_added as (
  insert into event_value (key, tenant, seq) select value_key, tenant, (select seqs from drawn)[ord] from carried c
  where value_key is not null and ${wins('c')})`

const suppressionsAdded = (shape: Shape): string => `suppressions_added as (
  insert into suppressed (event, trigger_name, reason, detail)
  select (select seqs from drawn)[ord], trigger_name, reason, detail from ${shape.table('suppression')} where ${wins('suppression')}
  on conflict do nothing)`

const documentParts = (shape: Shape): string[] => [
  `documents_put as (
    insert into document (tenant, table_name, key, body) select tenant, table_name, key, body from ${shape.table('document')}
    where body is not null and ${wins('document')} order by tenant, table_name, key
    on conflict (tenant, table_name, key) do update set body = excluded.body)`,
  `documents_dropped as (
    delete from document d using ${shape.table('document')} where document.body is null and ${wins('document')}
      and d.tenant = document.tenant and d.table_name = document.table_name and d.key = document.key)`,
]

/** ledger-9. The rows that are deleted and those that are written are disjoint: one statement changes a row once. */
const taskParts = (shape: Shape): string[] => [
  `tasks_put as (
    insert into task (id, tenant, run, step, status, is_open, type, title, addresses, claimed_by, priority, deadline, created_at,
      updated_at, put_off, summary)
    select id, tenant, run, step, status, is_open, type, title, addresses, claimed_by, priority, deadline, created_at, updated_at, put_off,
      summary from ${shape.table('task')} where ${wins('task')}
    on conflict (id) do update set status = excluded.status, is_open = excluded.is_open, type = excluded.type, title = excluded.title,
      addresses = excluded.addresses, claimed_by = excluded.claimed_by, priority = excluded.priority, deadline = excluded.deadline,
      updated_at = excluded.updated_at, put_off = excluded.put_off, summary = excluded.summary)`,
  `addressed as materialized (select * from ${shape.table('task_address')} where ${wins('task_address')})`,
  `addresses_dropped as (
    delete from task_address where ctid = any(array(
      select a.at from ${shape.table('task')},
        lateral (select a.ctid as at, a.address from task_address a where a.task = task.id offset 0) a
      where ${wins('task')} and (task.id, a.address) not in (select task, address from addressed))))`,
  `addresses_put as (
    insert into task_address (task, address, tenant, status, deadline) select task, address, tenant, status, deadline from addressed
    on conflict (task, address) do update set status = excluded.status, deadline = excluded.deadline
      where (task_address.status, task_address.deadline) <> (excluded.status, excluded.deadline))`,
]

/** For pages of all processes (change-feed.ts): which streams were written, and which tenants have new events. */
const newsTold = (shape: Shape): string => {
  const streams = [
    ...(shape.has('guard') ? ['select id from changed where is_written'] : []),
    ...(shape.has('creation') ? ['select id from born'] : []),
  ]
  const tenants = shape.has('occurrence')
    ? `array(select distinct tenant from numbered n where ${wins('n')})`
    : `'{}'::text[]`
  return `news_told as (
    insert into news (streams, tenants) select * from (
      select array(${streams.join(' union all ')}) as streams, ${tenants} as tenants) t
    where streams <> '{}' or tenants <> '{}')`
}

const partsOf = (shape: Shape): string[] => [
  ...(shape.prelude === null ? [] : [shape.prelude]),
  `position as materialized (${LAST_SEQUENCE})`,
  ...(shape.has('occurrence') ? eventParts(shape) : []),
  ...(shape.has('guard') ? lockParts(shape) : []),
  lost(shape),
  ...(shape.has('opening') ? [opened(shape), ...WAITS_OPENED] : []),
  ...(shape.has('guard') ? [...changeParts(shape), UPDATED] : []),
  factsAdded(shape),
  ...(shape.has('creation') ? creationParts(shape) : []),
  ...(shape.has('occurrence') ? [EVENTS_ADDED] : []),
  ...(shape.has('carried') ? [VALUES_ADDED] : []),
  ...(shape.has('suppression') ? [suppressionsAdded(shape)] : []),
  ...(shape.has('closing') ? [waitsClosed(shape)] : []),
  ...(shape.has('task') ? taskParts(shape) : []),
  ...(shape.has('document') ? documentParts(shape) : []),
  newsTold(shape),
]

const raisedIds = (shape: Shape): string => {
  const sources = [
    ...(shape.has('guard') ? ['select id from changed where is_raised'] : []),
    ...(shape.has('creation') ? ['select id from born where is_raised'] : []),
  ]
  return `any(array(${sources.join(' union all ')}))`
}

/** A run that may wait for the room that a released lease frees: the first of its version in the same lane, else in another. */
const FREED = `select 'signalled', c.append, null, w.id, null, null from changed c,
  lateral (select coalesce(
    (select id from stream where system_hash = c.system_hash and lane = c.lane and wake_at is not null and lease is null
      order by wake_at, id limit 1),
    (select id from stream where system_hash = c.system_hash and lane > '' and wake_at is not null and lease is null
      order by wake_at limit 1)) as id) w
  where c.lane > '' and c.is_written and c.lease is not null and c.next_lease is null and w.id is not null`

/** A run that is due because of a signal is reported for the append that wrote it; a signalled run, for the append that signalled it. */
const answersOf = (shape: Shape): string[] => [
  `select 'position' as kind, null::int as append, at as seq, null::uuid as stream, null as type, null as path from position`,
  `select 'lost', append, null, null, null, null from lost`,
  ...(shape.has('guard')
    ? [
        `select 'signalled', append, null, id, null, null from changed where is_written and has_news and next_lease is null`,
        FREED,
      ]
    : []),
  ...(shape.wakeups
    ? [
        `select 'signalled', append, null, stream, null, null from wakeup where ${wins('wakeup')} and stream = ${raisedIds(shape)}`,
      ]
    : []),
  ...(shape.has('opening')
    ? [
        `select 'signalled', append, null, stream, null, null from opened where is_late and stream = ${raisedIds(shape)}`,
      ]
    : []),
  ...(shape.has('occurrence')
    ? [
        `select 'event', append, seq, null, null, null from numbered`,
        `select 'unknown_path', null, null, null, type, path from unknown_path`,
      ]
    : []),
]

export const appendStatement = (shape: Shape): Statement => ({
  name: `append_${shape.name}`,
  text: `with ${partsOf(shape).join(',\n')}\n${answersOf(shape).join('\nunion all ')}`,
})

/**
 * Why appends with events or new waits take locks before they read anything (ledger-5):
 *
 * The writer of an event looks for waits, the opener of a wait counts events. Each sees only what was committed when its statement
 * began. If both are in progress, neither sees the other, both commit, and the run sleeps for ever. So the opener of a wait for a type
 * locks that type exclusively until its commit, and a writer of events of the type takes a shared lock: one of the two then begins its
 * statement after the other has committed, and sees it. Events do not wait for each other. The locks come first, always in the same
 * order, and in a statement of their own, because a statement sees the tables as they were when it began.
 *
 * A write without events and waits needs no such locks.
 */
export const LOCK_TYPES: Statement = {
  name: 'lock_types',
  text: `select case when is_shared then pg_advisory_xact_lock_shared($1, key)::text else pg_advisory_xact_lock($1, key)::text end
    from unnest($2::int[], $3::bool[]) as locks(key, is_shared)`,
}

/** Its value is the streams. Locks them in the order of their ids, as the append statement does. */
export const LOCK_STREAMS: Statement = {
  name: 'lock_streams',
  text: `select from (select id from unnest($1::uuid[]) as id order by id) w, lateral (select from stream s where s.id = w.id for update) s`,
}
