/**
 * The statement that writes a batch: it locks, judges, writes and tells who lost, in one round trip.
 *
 * Owns the fence (ledger-4) and who is signalled. Two texts are made of the same parts: one for batches that hold nothing but steps,
 * one for everything. The second costs about twice as much for a single append, and the same for a large batch.
 *
 * Traps:
 * - All parts of a statement see the tables as they were at its start, also those that the others change.
 * - One statement changes a row once. So a stream that is written and signalled by one batch is changed by one update.
 * - `locked` gives the rows as they are once the lock is held, not as they were at the start.
 * - Rows are locked in the order of their ids, whatever the order of the batch: two batches never wait for each other in a circle.
 * - `x not in (select …)` is a hash lookup; joins of two lists would be loops, because nothing is known about their sizes.
 */
import { isEnded, RUN_STATUSES } from '../../model/status.ts'
import { unnest } from './columns.ts'
import { ALL_LISTS, LISTS, type ListName, STEP_LISTS } from './lists.ts'
import type { Statement } from './pool.ts'
import { RUN } from './rows.ts'

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

const wins = (list: string): string => `${list}.append not in (select append from lost)`

/** Each list as a table expression; after all of them stands the size of the batch. */
const tablesOf = (lists: readonly ListName[]): { table(name: ListName): string; size: string } => {
  const first = new Map<ListName, number>()
  let next = 1
  for (const name of lists) {
    first.set(name, next)
    next += Object.keys(LISTS[name]).length
  }
  return { table: (name) => unnest(name, LISTS[name], first.get(name) ?? 0), size: `$${next}::int` }
}

/** Sequences are drawn for every event, also for those that lose: a gap harms nobody. */
const eventParts = (table: (name: ListName) => string): string[] => [
  `numbered as materialized (
    select o.*, nextval(pg_get_serial_sequence('event', 'seq')) as seq from (select * from ${table('occurrence')} order by ord) o)`,
  'drawn as materialized (select array_agg(seq order by ord) as seqs from numbered)',
  `unknown_path as materialized (
    select p.type, p.path from wait_path p where p.type in (select type from numbered)
      and (p.type, p.path) not in (select type, path from ${table('known_path')}))`,
  `carried as materialized (select * from ${table('carried')})`,
  `nudge as materialized (
    select append, stream, due from ${table('signal')}
    union select carried.append, w.stream, carried.due from carried
      join wait w on w.type = carried.type and w.path = carried.path and w.value = carried.value
      join stream s on s.id = w.stream and s.tenant = carried.tenant)`,
]

/** The streams to lock: those that are written, and those that are only signalled. */
const wanted = (isWhole: boolean): string =>
  isWhole
    ? `wanted as materialized (
        select g.*, coalesce(g.stream, n.stream) as id, least(g.due, n.due) as at_once, n.stream is not null as is_nudged
        from guard g full join (select stream, min(due) as due from nudge group by stream) n on n.stream = g.stream)`
    : 'wanted as materialized (select g.*, g.stream as id, g.due as at_once from guard g)'

const LOCKED = `locked as materialized (
  select w.*, s.version, s.epoch, s.signal, s.lease, s.status, s.wake_at, s.kind
  from wanted w join stream s on s.id = w.id order by s.id for update of s)`

/** A write that brings no fact and finds the lease already given back at its own epoch has been here before (ledger-3). */
const LOST_BY_FENCE = [
  `select append from locked where append is not null
    and (version <> expected or epoch <> fence or (newsless and lease is null and epoch = fence))`,
  'select append from guard where stream not in (select id from locked)',
]

const lostByEvent = (table: (name: ListName) => string, size: string): string[] => [
  'select n.append from numbered n join event e on e.id = n.id and e.source = n.source and e.tenant = n.tenant',
  `select creation.append from ${table('creation')} join stream s on s.id = creation.id`,
  // Events whose values were taken at too few paths: nothing is written, and the batch comes again with all of them.
  `select generate_series(0, ${size} - 1) where exists (select from unknown_path)`,
]

/**
 * The waits that are opened. Late is one that has not counted an event written before it, or that meets one written after it; both
 * may happen inside the batch too, whose events nobody sees in the tables yet.
 */
const opened = (table: (name: ListName) => string): string => `opened as materialized (
  select opening.*, seen <> stored.count + crossing.count or (is_crossed and exists (
      select from carried c where c.append > opening.append and c.type = opening.type and c.path = opening.path and c.value = opening.value
        and c.tenant = owner.tenant and ${wins('c')})) as is_late
  from ${table('opening')},
    lateral (select coalesce(opening.new_tenant, (select s.tenant from stream s where s.id = opening.stream)) as tenant) owner,
    lateral (select count(*) from (
      select from event e where e.type = opening.type and e.tenant = owner.tenant and e.seq > opening.base limit opening.seen + 1) e) stored,
    lateral (select count(*) from numbered n where is_crossed
      and n.append <= opening.append and n.type = opening.type and n.tenant = owner.tenant and ${wins('n')}) crossing
  where ${wins('opening')})`

/**
 * A run that has ended is not signalled. If it ends or begins again in this very batch, the order of the appends decides.
 * A wait is opened by the write itself, so that the status after it counts.
 */
const SIGNALLED = `kind = ${RUN} and (
  (is_open and id in (select stream from opened where is_late))
  or case
    when is_open and was_open then id in (select stream from nudge where ${wins('nudge')})
    when is_nudged and (is_open or was_open) then exists (
      select from nudge n where n.stream = o.id and ${wins('n')} and case when n.append < o.append then was_open else is_open end)
    else false end)`

/** What each locked stream becomes. `is_raised`: it is signalled; `has_news`: it is due at once unless somebody holds it. */
const changeParts = (isWhole: boolean): string[] => [
  `judged as materialized (
    select l.*, w.is_written, case when w.is_written then l.to_status else l.status end as next_status,
      case when w.is_written and l.release and l.fence is not null then null else l.lease end as next_lease
    from locked l, lateral (select l.append is not null and ${wins('l')} as is_written) w)`,
  `raised as materialized (
    select o.*, ${isWhole ? SIGNALLED : 'false'} as is_raised
    from (select j.*, status not in (${ENDED}) as was_open, next_status not in (${ENDED}) as is_open from judged j) o)`,
  'changed as materialized (select r.*, is_open and (is_raised or (is_written and signal > seen_signal)) as has_news from raised r)',
]

/** A holder decides at its release when the run is woken; until then nobody's wake counts. `least` passes over null. */
const UPDATED = `updated as (
  update stream s set
    version = s.version + case when c.is_written then c.added else 0 end,
    head_hash = case when c.is_written then c.to_head else s.head_hash end,
    status = c.next_status,
    signal = s.signal + c.is_raised::int,
    lease = c.next_lease,
    recoveries = case when c.is_written and c.added > 0 then 0 else s.recoveries end,
    wake_at = case
      when c.next_lease is not null then s.wake_at
      when c.has_news then least(case when c.is_written then c.to_wake_at else s.wake_at end, coalesce(c.at_once, trihand_now()))
      when c.is_written then c.to_wake_at
      else s.wake_at end
  from changed c where s.id = c.id and (c.is_written or c.is_raised))`

/** A command from outside carries no epoch: its facts get the epoch that the stream has. */
const factsAdded = (table: (name: ListName) => string): string => `facts_added as (
  insert into fact (stream, seq, append_id, epoch, type, recorded_at, body, hash)
  select stream, seq, append_id, coalesce(fact.epoch, (select l.epoch from locked l where l.id = fact.stream)), type, recorded_at, body, hash
  from ${table('fact')} where ${wins('fact')})`

const creationParts = (table: (name: ListName) => string): string[] => [
  `born as materialized (
    select creation.*, (select seqs from drawn)[event_ord] as event,
      greatest((select at from position), (select seqs from drawn)[last_ord]) as latest,
      kind = ${RUN} and status not in (${ENDED}) and id in (select stream from opened where is_late) as is_raised
    from ${table('creation')} where ${wins('creation')})`,
  `streams_added as (
    insert into stream (id, kind, tenant, handler, system_hash, session, parent, event, base, version, epoch, signal, head_hash, status,
      wake_at, lease, recoveries, created_at)
    select id, kind, tenant, handler, system_hash, session, parent, event, coalesce(event, latest), version, epoch, is_raised::int, head_hash,
      status, case when lease is not null then null when is_raised then least(wake_at, coalesce(due, trihand_now())) else wake_at end,
      lease, 0, created_at
    from born)`,
]

const otherWrites = (table: (name: ListName) => string): string[] => [
  `events_added as (
    insert into event (seq, tenant, source, id, type, subject, time, correlation, causation, traceparent, hops, chain, data, data_hash, append_id)
      overriding system value
    select seq, tenant, source, id, type, subject, time, correlation, causation, traceparent, hops, chain, data, data_hash, append_id
    from numbered n where ${wins('n')})`,
  `suppressions_added as (
    insert into suppressed (event, trigger_name, reason, detail)
    select (select seqs from drawn)[ord], trigger_name, reason, detail from ${table('suppression')} where ${wins('suppression')}
    on conflict do nothing)`,
  `waits_closed as (
    delete from wait w using ${table('closing')} where w.stream = closing.stream and w.step = closing.step and ${wins('closing')})`,
  `waits_opened as (
    insert into wait (stream, step, type, path, value) select stream, step, type, path, value from opened)`,
  `paths_added as (
    insert into wait_path (type, path) select distinct type, path from opened where path <> '' order by type, path
    on conflict do nothing)`,
  `documents_put as (
    insert into document (tenant, table_name, key, body) select tenant, table_name, key, body from ${table('document')}
    where body is not null and ${wins('document')} order by tenant, table_name, key
    on conflict (tenant, table_name, key) do update set body = excluded.body)`,
  `documents_dropped as (
    delete from document d using ${table('document')} where document.body is null and ${wins('document')}
      and d.tenant = document.tenant and d.table_name = document.table_name and d.key = document.key)`,
]

const ANSWER = [
  `select 'position' as kind, null::int as append, at as seq, null::uuid as stream, null as type, null as path from position`,
  `select 'lost', append, null, null, null, null from lost`,
  `select 'signalled', append, null, id, null, null from changed where is_written and has_news and next_lease is null`,
]

const WHOLE_ANSWER = [
  `select 'event', append, seq, null, null, null from numbered`,
  `select 'signalled', append, null, stream, null, null from nudge where ${wins('nudge')} and stream in (select id from changed where is_raised)`,
  `select 'signalled', append, null, stream, null, null from opened where is_late
    and stream in (select id from changed where is_raised union all select id from born where is_raised)`,
  `select 'unknown_path', null, null, null, type, path from unknown_path`,
]

const textOf = (isWhole: boolean): string => {
  const { table, size } = tablesOf(isWhole ? ALL_LISTS : STEP_LISTS)
  const lost = [...LOST_BY_FENCE, ...(isWhole ? lostByEvent(table, size) : [])]
  const parts = [
    `guard as materialized (select * from ${table('guard')})`,
    'position as materialized (select coalesce(max(seq), 0) as at from event)',
    ...(isWhole ? eventParts(table) : []),
    wanted(isWhole),
    LOCKED,
    `lost as materialized (${lost.join(' union all ')})`,
    ...(isWhole ? [opened(table)] : []),
    ...changeParts(isWhole),
    UPDATED,
    factsAdded(table),
    ...(isWhole ? [...creationParts(table), ...otherWrites(table)] : []),
  ]
  const answer = isWhole ? [...ANSWER, ...WHOLE_ANSWER] : ANSWER
  return `with ${parts.join(',\n')}\n${answer.join('\nunion all ')}`
}

export const APPEND_STEPS: Statement = { name: 'append_steps', text: textOf(false) }
export const APPEND_ALL: Statement = { name: 'append_all', text: textOf(true) }

/**
 * Why appends with events or new waits take locks before they look at anything (ledger-5):
 *
 * The writer of an event looks for waits, the opener of a wait counts events. Each sees only what was committed when its statement
 * began. If both are under way, neither sees the other, both commit, and the run sleeps for ever. So whoever opens a wait for a type
 * holds that type alone until its commit, and whoever writes events of the type shares it: one of the two then begins its statement
 * after the other has committed, and sees it. Events do not wait for each other. The locks come first, in one order for everybody,
 * and in a statement of their own, because a statement's view of the tables is as old as its beginning.
 *
 * A write that neither emits nor waits needs none of this.
 */
export const LOCK_TYPES: Statement = {
  name: 'lock_types',
  text: `select case when is_shared then pg_advisory_xact_lock_shared($1, key)::text else pg_advisory_xact_lock($1, key)::text end
    from unnest($2::int[], $3::bool[]) as locks(key, is_shared)`,
}
