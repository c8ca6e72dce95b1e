/**
 * Heartbeats of workers, and the release of leases whose worker is gone.
 *
 * Owns leases outside of appends; claim.ts gives them. Uses the database's clock, so that the clocks of workers do not matter; with
 * `clock: 'caller'` the instant in the request. Every few heartbeats a worker also deletes old rows of news (change-feed.ts).
 */
import { FORGET_NEWS } from '#adapters/storage/postgres/change-feed.ts'
import type { Ask, Command, Database, Statement } from '#adapters/storage/postgres/pool.ts'
import { headOf, versionOf } from '#adapters/storage/postgres/rows.ts'
import type { Instant, WorkerId } from '#model/kernel/ids.ts'
import type { BeatRequest, ClaimRequest, Claims } from '#ports/ledger.ts'
import { claim } from './claim.ts'

/** Holders are found one after another in the index: there are few holders and many leases. */
const SILENT = `
  clock as materialized (select coalesce($2::bigint, trihand_now()) as now),
  holder as (
    select min(lease) as id from stream where lease is not null
    union all select (select min(lease) from stream where lease > holder.id) from holder where holder.id is not null),
  silent as materialized (
    select h.id from holder h where h.id <> $1 and h.id not in (
      select w.id from worker w where w.beat_at >= (select now from clock) - $3::bigint))`

/** Values: worker, now, how long others may be silent, info. Returns how many holders are silent. */
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

/** Values: worker, now, how long others may be silent. Skips rows that another transaction is writing; a later heartbeat frees them. */
const LOCK_LOST: Statement = {
  name: 'lock_lost',
  text: `with recursive ${SILENT}
  select id from stream where lease = any(array(select id from silent)) for update skip locked`,
}

/** Its value is the worker. Locks in the order of ids, as an append does. */
const LOCK_HELD: Statement = {
  name: 'lock_held',
  text: `with held as materialized (select id from stream where lease = $1)
  select s.id from (select id from held order by id) h, lateral (select id from stream where id = h.id and lease = $1 for update) s`,
}

/**
 * Values: ids, now, the increase of the count of lost leases. Always runs after the statement that locked the rows: that one does not see
 * a step that was committed while it waited, and the row must be updated to its last fact.
 * Raises the epoch at once, so that a holder that is still alive is fenced immediately.
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

export class LeaseUpdates {
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

  /** Returns the number of leases freed. */
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
