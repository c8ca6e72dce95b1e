/**
 * Who works on what: claims of due runs, beats of workers, and the freeing of leases whose worker is gone.
 *
 * Owns leases outside of appends (ledger-7). Goes by the database's clock, so that the clocks of workers do not matter; with
 * `clock: 'caller'` by the instant in the request.
 */
import type { Instant, WorkerId } from '../../model/ids.ts'
import { runId } from '../../model/ids.ts'
import type { BeatRequest, ClaimRequest, Claims } from '../../ports/ledger.ts'
import type { Database, Statement } from './pool.ts'
import { RUN, toUuid } from './rows.ts'

interface ClaimRow {
  /** Null in the row that only tells when the next run falls due. */
  readonly id: string | null
  readonly version: number
  readonly epoch: number
  readonly signal: number
  readonly wake_at: Instant | null
}

const PARKED = `kind = ${RUN} and wake_at is not null and lease is null`

/** `trihand_now()` is stable, so that it serves as a bound of the index; clock_timestamp() would read every row. */
const claimText = (which: string): string => `
  with due as materialized (
    select id, wake_at from stream where ${PARKED} and wake_at <= coalesce($2::bigint, trihand_now()) ${which}
    order by wake_at, id limit $3 for update skip locked),
  claimed as (
    update stream s set lease = $1, epoch = s.epoch + 1, wake_at = null from due where s.id = due.id
    returning s.id, s.version, s.epoch, s.signal, due.wake_at),
  later as (
    select wake_at from stream where ${PARKED} and id not in (select id from due) order by wake_at, id limit 1)
  select id, version, epoch, signal, wake_at from claimed
  union all select null, 0, 0, 0, wake_at from later`

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
    insert into worker (id, beat_at) select $1, now from clock on conflict (id) do update set beat_at = excluded.beat_at),
  forgotten as (
    delete from worker w using clock where w.id <> $1 and w.beat_at < clock.now - $3::bigint),
  holder as (
    select min(lease) as id from stream where lease is not null
    union all select (select min(lease) from stream where lease > holder.id) from holder where holder.id is not null),
  silent as materialized (
    select h.id from holder h, clock where h.id <> $1
      and not exists (select from worker w where w.id = h.id and w.beat_at >= clock.now - $3::bigint)),
  lost as materialized (
    select id from stream where lease in (select id from silent) order by id for update skip locked),
  freed as (
    update stream s set lease = null, epoch = s.epoch + 1, wake_at = (select now from clock), recoveries = s.recoveries + 1
    from lost where s.id = lost.id returning s.id)
  select count(*) as freed from freed`,
}

const RETIRE: Statement = {
  name: 'retire',
  text: `
  with held as materialized (select id from stream where lease = $1 order by id for update),
  freed as (
    update stream s set lease = null, epoch = s.epoch + 1, wake_at = coalesce($2::bigint, trihand_now()) from held where s.id = held.id)
  delete from worker where id = $1`,
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
    const claimed = rows.filter((row): row is ClaimRow & { id: string } => row.id !== null)
    claimed.sort((a, b) => (a.wake_at ?? 0) - (b.wake_at ?? 0) || (a.id < b.id ? -1 : 1))
    return {
      claims: claimed.map(({ id, version, epoch, signal }) => ({ run: runId(id), version, epoch, signal })),
      nextDueAt: rows.find((row) => row.id === null)?.wake_at ?? null,
    }
  }

  async beat({ worker, now, ttlMs }: BeatRequest): Promise<number> {
    const [row] = await this.#database.query<{ freed: number }>(BEAT, [worker, this.#at(now), ttlMs])
    return row?.freed ?? 0
  }

  async retire(worker: WorkerId, now: Instant): Promise<void> {
    await this.#database.query(RETIRE, [worker, this.#at(now)])
  }

  #at(now: Instant): Instant | null {
    return this.#clock === 'caller' ? now : null
  }
}
