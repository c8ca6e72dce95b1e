/**
 * The parts of the append statement that open and close waits (append-sql.ts).
 *
 * Owns the check whether a wait is opened too late (ledger-5). append.ts holds the lock of the type meanwhile.
 */
import { type Shape, wins } from './shape.ts'

/** The number of stored events that a new wait should have seen; counts at most one more than it has seen. */
const COUNT_BEFORE = `case when path = ''
  then (select count(*) from (
    select from event e where e.type = opening.type and e.tenant = owner.tenant and e.seq > base limit seen + 1) e)
  else (select count(*) from (
    select from event_value v where v.key = value_key and v.tenant = owner.tenant and v.seq > base limit seen + 1) v) end`

/** True if events after the base are not listed by their values: one of them may hold the value. */
const IS_UNLISTED = `path <> '' and (
  select e.seq from event e where e.type = opening.type and e.tenant = owner.tenant and e.seq > base and e.seq <= coalesce(
    (select v.since from value_path v where v.tenant = owner.tenant and v.type = opening.type and v.path = opening.path),
    (select at from position)) limit 1) is not null`

/**
 * The waits that are opened. A wait is late if it has not counted an event written before it, or if it meets one written after it; both
 * may also happen inside the batch, whose events are not visible in the tables yet.
 */
export const opened = (shape: Shape): string => {
  const met = `from carried c where is_crossed and c.type = opening.type and c.path = opening.path and c.value = opening.value
    and c.tenant = owner.tenant and ${wins('c')}`
  const crossing = `(select count(*) ${met} and c.append <= opening.append)`
  const meeting = `exists (select ${met} and c.append > opening.append)`
  return `opened as materialized (
    select opening.*, owner.tenant, ${COUNT_BEFORE} <> seen ${shape.has('occurrence') ? `- ${crossing} or ${meeting}` : ''}
      or ${IS_UNLISTED} as is_late
    from ${shape.table('opening')},
      lateral (select coalesce(opening.new_tenant, (select s.tenant from stream s where s.id = opening.stream)) as tenant) owner
    where ${wins('opening')})`
}

export const waitsClosed = (shape: Shape): string => `waits_closed as (
  delete from wait where ctid = any(array(
    select w.at from ${shape.table('closing')},
      lateral (select w.ctid as at from wait w where w.stream = closing.stream and w.step = closing.step offset 0) w
    where ${wins('closing')})))`

export const WAITS_OPENED = [
  'waits_opened as (insert into wait (stream, step, type, path, value) select stream, step, type, path, value from opened)',
  `paths_added as (
    insert into wait_path (type, path) select distinct type, path from opened where path <> '' order by type, path on conflict do nothing)`,
  `value_paths_added as (
    insert into value_path (tenant, type, path, since)
    select tenant, type, path, (select at from position) from (
      select distinct tenant, type, path from opened where path <> '' order by tenant, type, path) p
    on conflict do nothing)`,
]
