/**
 * Who works on what: claims of due runs, beats of workers, and the freeing of leases whose worker is gone.
 *
 * Owns leases outside of appends (ledger-7). Goes by the database's clock, so that the clocks of workers do not matter; with
 * `clock: 'caller'` by the instant in the request.
 */
import type { Instant, WorkerId } from '../../model/ids.ts'
import { claimableId } from '../../model/ids.ts'
import type { BeatRequest, ClaimRequest, Claims, StreamRecord } from '../../ports/ledger.ts'
import type { Database, Statement } from './pool.ts'
import { EVENT_COLUMNS, type EventRow, SESSION, type StreamRow, toEvent, toRecord, toUuid } from './rows.ts'

/** A claimed stream as it is now. */
interface ClaimedRow extends StreamRow {
  /** Its place among the claims, the oldest wake first. */
  readonly place: number
  /** Type, instant, body and hash of each fact; null for a run with many, which is loaded. */
  readonly facts: readonly (readonly [string, Instant, string, string])[] | null
  readonly trigger: EventRow | null
}

/** There is always a row to tell when the next run falls due; where nothing was claimed it has no id. */
type ClaimRow = (ClaimedRow | { readonly id: null }) & { readonly next_due_at: Instant | null }

/** Runs with more facts than this are loaded apart: one answer must not become too large to be read. */
const MOST_FACTS = 100

const PARKED = `kind <> ${SESSION} and wake_at is not null and lease is null`

/**
 * `trihand_now()` is stable, so that it serves as a bound of the index; clock_timestamp() would read every row.
 * Rows are changed by a list of ids, never by a join: see append-sql.ts.
 */
const claimText = (which: string): string => `
  with due as materialized (
    select id, wake_at from stream where ${PARKED} and wake_at <= coalesce($2::bigint, trihand_now()) ${which}
    order by wake_at, id limit $3 for update skip locked),
  chosen as materialized (select array(select id from due order by wake_at, id) as ids),
  claimed as (
    update stream set lease = $1, epoch = epoch + 1, wake_at = null where id = any((select ids from chosen)::uuid[])
    returning *),
  later as (
    select wake_at from stream where ${PARKED} and id not in (select id from due) order by wake_at, id limit 1)
  select c.*, array_position((select ids from chosen), c.id) as place, (select wake_at from later) as next_due_at,
    case when version <= ${MOST_FACTS} then (
      select json_agg(json_build_array(type, recorded_at, body, hash) order by seq) from fact where stream = c.id) end as facts,
    (select row_to_json(e) from (select ${EVENT_COLUMNS} from event where seq = c.event) e) as trigger
  from (values (0)) as always left join claimed c on true`

const CLAIM_DUE: Statement = { name: 'claim_due', text: claimText('') }
const CLAIM_NAMED: Statement = { name: 'claim_named', text: claimText('and id = any($4::uuid[])') }

/**
 * The holders of leases are found by stepping through the index from one to the next: there are few of them and many leases.
 * The epoch rises with the freeing already, so that a holder who still lives is fenced at once.
 */
const BEAT: Statement = {
  name: 'beat',
  text: `
  with recursive clock as materialized (select coalesce($2::bigint, trihand_now()) as now),
  beaten as (
    insert into worker (id, beat_at, info) select $1, now, $4::text from clock
    on conflict (id) do update set beat_at = excluded.beat_at, info = coalesce(excluded.info, worker.info)),
  forgotten as (
    delete from worker where id = any(array(
      select id from worker where id <> $1 and beat_at < (select now from clock) - $3::bigint for update skip locked))),
  holder as (
    select min(lease) as id from stream where lease is not null
    union all select (select min(lease) from stream where lease > holder.id) from holder where holder.id is not null),
  silent as materialized (
    select h.id from holder h where h.id <> $1 and h.id not in (
      select w.id from worker w where w.beat_at >= (select now from clock) - $3::bigint)),
  lost as materialized (
    select id from stream where lease = any(array(select id from silent)) for update skip locked),
  freed as (
    update stream set lease = null, epoch = epoch + 1, wake_at = (select now from clock), recoveries = recoveries + 1
    where id = any(array(select id from lost)) returning id)
  select count(*) as freed from freed`,
}

/** Locked in the order of ids, as an append does it. */
const RETIRE: Statement = {
  name: 'retire',
  text: `
  with held as materialized (select id from stream where lease = $1),
  locked as materialized (
    select s.id from (select id from held order by id) h, lateral (select id from stream where id = h.id and lease = $1 for update) s),
  freed as (
    update stream set lease = null, epoch = epoch + 1, wake_at = coalesce($2::bigint, trihand_now())
    where id = any(array(select id from locked)))
  delete from worker where id = $1`,
}

/** The facts are as old as the statement, the stream is not: one that was written in between lacks facts here, and is loaded. */
const toWholeRecord = (row: ClaimedRow): readonly StreamRecord[] => {
  if (row.facts?.length !== row.version) return []
  const facts = row.facts.map(([type, recordedAt, body, hash]) => ({ type, recordedAt, body, hash }))
  return [toRecord(row, facts)]
}

export class Leases {
  readonly #database: Database
  readonly #clock: 'database' | 'caller'

  constructor(database: Database, clock: 'database' | 'caller') {
    this.#database = database
    this.#clock = clock
  }

  async claim({ worker, now, limit, only }: ClaimRequest): Promise<Claims> {
    const values = [worker, this.#at(now), limit]
    const rows =
      only === undefined
        ? await this.#database.query<ClaimRow>(CLAIM_DUE, values)
        : await this.#database.query<ClaimRow>(CLAIM_NAMED, [...values, only.map(toUuid)])
    const nextDueAt = rows[0]?.next_due_at ?? null
    const claimed = rows
      .filter((row): row is ClaimRow & ClaimedRow => row.id !== null)
      .sort((a, b) => a.place - b.place)
    if (claimed.length === 0) return { claims: [], nextDueAt }
    return {
      claims: claimed.map(({ id, version, epoch, signal }) => ({ stream: claimableId(id), version, epoch, signal })),
      nextDueAt,
      records: claimed.flatMap(toWholeRecord),
      events: claimed.flatMap(({ trigger }) => (trigger === null ? [] : toEvent(trigger))),
    }
  }

  async beat({ worker, now, ttlMs, info }: BeatRequest): Promise<number> {
    const told = info === undefined ? null : JSON.stringify(info)
    const [row] = await this.#database.query<{ freed: number }>(BEAT, [worker, this.#at(now), ttlMs, told])
    return row?.freed ?? 0
  }

  async retire(worker: WorkerId, now: Instant): Promise<void> {
    await this.#database.query(RETIRE, [worker, this.#at(now)])
  }

  #at(now: Instant): Instant | null {
    return this.#clock === 'caller' ? now : null
  }
}
