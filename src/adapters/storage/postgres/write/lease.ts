/**
 * Who works on what: beats of workers, and the freeing of leases whose worker is gone.
 *
 * Owns leases outside of appends; how a claim gives them is in claim.ts. Goes by the database's clock, so that the clocks of workers
 * do not matter; with `clock: 'caller'` by the instant in the request. Whoever beats also forgets old news, now and then (news.ts).
 */
import { FORGET_NEWS } from '#adapters/storage/postgres/change-feed.ts'
import type { Ask, Command, Database, Statement } from '#adapters/storage/postgres/pool.ts'
import { headOf, versionOf } from '#adapters/storage/postgres/rows.ts'
import type { Instant, WorkerId } from '#model/kernel/ids.ts'
import type { BeatRequest, ClaimRequest, Claims } from '#ports/ledger.ts'
import { claim } from './claim.ts'

/** The holders of leases are found by stepping through the index from one to the next: there are few of them and many leases. */
const SILENT = `
  clock as materialized (select coalesce($2::bigint, trihand_now()) as now),
  holder as (
    select min(lease) as id from stream where lease is not null
    union all select (select min(lease) from stream where lease > holder.id) from holder where holder.id is not null),
  silent as materialized (
    select h.id from holder h where h.id <> $1 and h.id not in (
      select w.id from worker w where w.beat_at >= (select now from clock) - $3::bigint))`

/** Worker, now, how long others may be silent, info. Tells how many holders are silent. */
const BEAT: Statement = {
  name: 'beat',
  text: `
  with recursive ${SILENT},
  beaten as (
    insert into worker (id, beat_at, info) select $1, now, $4::text from clock
    on conflict (id) do update set beat_at = excluded.beat_at, info = coalesce(excluded.info, worker.info)),
  forgotten as (
    delete from worker where id = any(array(
      select id from worker where id <> $1 and beat_at < (select now from clock) - $3::bigint for update skip locked)))
  select count(*) as silent from silent`,
}

/** Worker, now, how long others may be silent. A row that somebody is just writing is left to a later beat. */
const LOCK_LOST: Statement = {
  name: 'lock_lost',
  text: `with recursive ${SILENT}
  select id from stream where lease = any(array(select id from silent)) for update skip locked`,
}

/** Worker. Locked in the order of ids, as an append does it. */
const LOCK_HELD: Statement = {
  name: 'lock_held',
  text: `with held as materialized (select id from stream where lease = $1)
  select s.id from (select id from held order by id) h, lateral (select id from stream where id = h.id and lease = $1 for update) s`,
}

/**
 * Ids, now, by how much the count of lost leases rises. Always a statement after the one that locked the rows: a step that was
 * committed while that one waited is not seen by it, and the row is to be brought up to its last fact.
 * The epoch rises with the freeing already, so that a holder who still lives is fenced at once.
 */
const FREE: Statement = {
  name: 'free',
  text: `
  update stream set lease = null, epoch = epoch + 1, wake_at = coalesce($2::bigint, trihand_now()), recoveries = recoveries + $3::int,
    version = ${versionOf('stream')}, head_hash = ${headOf('stream')}
  where id = any($1::uuid[])`,
}

const FORGET: Statement = { name: 'forget_worker', text: 'delete from worker where id = $1' }

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
    const [rows] = await this.#database.queries<{ silent: number }>(commands)
    if (rows?.[0]?.silent === 0) return 0
    const lock = { statement: LOCK_LOST, values: [worker, this.#at(now), ttlMs] }
    return this.#database.converse((ask) => this.#free(ask, lock, { now, lost: 1 }))
  }

  async retire(worker: WorkerId, now: Instant): Promise<void> {
    await this.#database.converse(async (ask) => {
      await this.#free(ask, { statement: LOCK_HELD, values: [worker] }, { now, lost: 0 })
      await ask([{ statement: FORGET, values: [worker] }])
    })
  }

  /** Answers how many. */
  async #free(ask: Ask, lock: Command, { now, lost }: { now: Instant; lost: number }): Promise<number> {
    const [locked = []] = await ask<{ id: string }>([lock])
    const ids = locked.map(({ id }) => id)
    if (ids.length > 0) await ask([{ statement: FREE, values: [ids, this.#at(now), lost] }])
    return ids.length
  }

  #at(now: Instant): Instant | null {
    return this.#clock === 'caller' ? now : null
  }
}
