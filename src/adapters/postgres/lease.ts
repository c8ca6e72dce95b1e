/**
 * Who works on what: beats of workers, and the freeing of leases whose worker is gone.
 *
 * Owns leases outside of appends; how a claim gives them is in claim.ts. Goes by the database's clock, so that the clocks of workers
 * do not matter; with `clock: 'caller'` by the instant in the request. Whoever beats also forgets old news, now and then (news.ts).
 */
import type { Instant, WorkerId } from '../../model/ids.ts'
import type { BeatRequest, ClaimRequest, Claims } from '../../ports/ledger.ts'
import { claim } from './claim.ts'
import { FORGET_NEWS } from './news.ts'
import type { Database, Statement } from './pool.ts'

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

const BEATS_PER_FORGETTING = 8

export class Leases {
  readonly #database: Database
  readonly #clock: 'database' | 'caller'
  #beats = 0

  constructor(database: Database, clock: 'database' | 'caller') {
    this.#database = database
    this.#clock = clock
  }

  claim(request: ClaimRequest): Promise<Claims> {
    return claim(this.#database, { ...request, now: this.#at(request.now) })
  }

  async beat({ worker, now, ttlMs, info }: BeatRequest): Promise<number> {
    const told = info === undefined ? null : JSON.stringify(info)
    const beat = { statement: BEAT, values: [worker, this.#at(now), ttlMs, told] }
    const isTurn = this.#beats++ % BEATS_PER_FORGETTING === 0
    const commands = isTurn ? [beat, { statement: FORGET_NEWS, values: [] }] : [beat]
    const [rows] = await this.#database.queries<{ freed: number }>(commands)
    return rows?.[0]?.freed ?? 0
  }

  async retire(worker: WorkerId, now: Instant): Promise<void> {
    await this.#database.query(RETIRE, [worker, this.#at(now)])
  }

  #at(now: Instant): Instant | null {
    return this.#clock === 'caller' ? now : null
  }
}
