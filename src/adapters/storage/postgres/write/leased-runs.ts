/**
 * Steps of held runs: one fact of a run that a worker has a lease on, and nothing else. Most writes of workers are such steps.
 *
 * Owns the fast statement for them (docs/decisions/0070): the fact is added under the lock of the run's row, and the row is not changed.
 * Which appends qualify is a guess from what this process wrote last; the statement decides, and skips any step for which the guess was
 * wrong: another epoch, no lease, another status or version. Skipped steps use the general statement (append.ts).
 */
import { type Columns, ColumnTexts, quote, unnest } from '#adapters/storage/postgres/columns.ts'
import type { Statement } from '#adapters/storage/postgres/pool.ts'
import { toUuid } from '#adapters/storage/postgres/rows.ts'
import type { StreamId } from '#model/kernel/ids.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { Append, Outcome, StreamWrite } from '#ports/ledger.ts'
import { LAST_SEQUENCE } from './append-sql.ts'
import { isSingle } from './single.ts'

const COLUMNS = {
  append: 'int',
  stream: 'uuid',
  expected: 'bigint',
  fence: 'bigint',
  status: 'text',
  append_id: 'text',
  type: 'text',
  recorded_at: 'bigint',
  body: 'text',
  hash: 'text',
} as const satisfies Columns

/** Indexes of the appends that were written; null: all. */
export interface StepsRow {
  readonly position: number
  readonly written: readonly number[] | null
}

/**
 * After a wait for the lock the row is current, but the facts are as old as the statement. An external writer of facts changes the row,
 * too; a second copy of this very step clashes with the first at the unique address of its fact, and fails.
 */
const writeSteps = (name: string, lock: string, news = ''): Statement => ({
  name,
  text: `with held as materialized (
    select step.* from (select * from ${unnest('step', COLUMNS, 1)} order by stream) step,
      lateral (select s.id, s.version from stream s where s.id = step.stream and s.epoch = step.fence and s.status = step.status
        and s.lease is not null and s.recoveries = 0 ${lock}) s
    where step.expected = greatest(s.version, (select f.seq + 1 from fact f where f.stream = s.id order by f.seq desc limit 1))),
  facts_added as (
    insert into fact (stream, seq, append_id, epoch, type, recorded_at, body, hash)
    select stream, expected, append_id, fence, type, recorded_at, body, hash from held),
  news_told as (
    insert into news (streams, tenants) select streams, '{}' from (select array(select stream from held) as streams) t
    where streams <> '{}' ${news})
  select (${LAST_SEQUENCE}) as position,
    case when (select count(*) from held) < cardinality($1::int[]) then array(select append from held) end as written`,
})

export const WRITE_STEPS = writeSteps('append_held', 'for update')

/**
 * For steps after other appends in the same transaction, which hold locks. It waits for no lock: waiting while holding locks, and not in
 * the order of ids, can deadlock. A run that another transaction has locked uses the general statement.
 */
export const WRITE_STEPS_BESIDE = writeSteps(
  'append_held_beside',
  'for update skip locked',
  // A transaction has one row of news, and the other appends have inserted it.
  'on conflict (xid) do update set streams = news.streams || excluded.streams',
)

/** The values column by column, in the order of COLUMNS; `HeldRuns.isStep` must hold for every append. */
export const stepValues = (batch: readonly Append[]): string[] => {
  const texts = new ColumnTexts(COLUMNS)
  for (const [place, { appendId, writes }] of batch.entries()) {
    for (const { stream, expectedVersion, epoch, status, facts } of writes) {
      for (const { type, recordedAt, body, hash } of facts) {
        texts.add(place, toUuid(stream), expectedVersion, epoch, status, quote(appendId))
        texts.add(quote(type), recordedAt, quote(body), quote(hash))
      }
    }
  }
  return texts.literals()
}

/** More than any process holds. */
const MAX_HELD = 65_536

/** The status of the runs that this process holds, as it wrote it last. */
export class LeasedRuns {
  readonly #statuses = new Map<StreamId, RunStatus>()

  isStep(append: Append): boolean {
    const [write] = append.writes
    if (write === undefined || write.epoch === null || write.release) return false
    return this.#statuses.get(write.stream) === write.status && isSingle(append)
  }

  note({ writes }: Append, { kind }: Outcome): void {
    for (const write of writes) {
      if (kind === 'conflict' || !keepsLease(write)) this.#statuses.delete(write.stream)
      else this.#keep(write)
    }
  }

  #keep({ stream, status }: StreamWrite): void {
    if (this.#statuses.size >= MAX_HELD) this.#statuses.clear()
    this.#statuses.set(stream, status)
  }
}

/** False after an external command: the next write of the holder must use the general statement. */
const keepsLease = ({ create, epoch, release }: StreamWrite): boolean =>
  !release && (create === null ? epoch !== null : create.lease !== null)
