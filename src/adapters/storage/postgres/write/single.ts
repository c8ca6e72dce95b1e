/**
 * Batches in which every append is one fact for one existing stream: most writes of runs.
 *
 * Owns the fast path for them: one list of few columns, filled without row objects in between. The statement checks and writes as for
 * any other batch (append-sql.ts), with views of this list where other shapes have two lists.
 */
import { type Columns, ColumnTexts, quote, unnest } from '#adapters/storage/postgres/columns.ts'
import { toUuid } from '#adapters/storage/postgres/rows.ts'
import type { Append } from '#ports/ledger.ts'
import { instantOf } from './batch.ts'

const COLUMNS = {
  append: 'int',
  stream: 'uuid',
  expected: 'bigint',
  fence: 'bigint',
  to_status: 'text',
  to_wake_at: 'bigint',
  release: 'bool',
  seen_signal: 'bigint',
  due: 'bigint',
  append_id: 'text',
  type: 'text',
  recorded_at: 'bigint',
  body: 'text',
  hash: 'text',
} as const satisfies Columns

export const SINGLE_LIST = `single as materialized (select * from ${unnest('single', COLUMNS, 1)})`

export const SINGLE_VIEWS = {
  guard: `(select append, stream, expected, fence, 1 as added, hash as to_head, to_status, to_wake_at, release, seen_signal, due,
    false as newsless from single) as guard`,
  fact: `(select append, stream, expected as seq, append_id, fence as epoch, type, recorded_at, body, hash from single) as fact`,
} as const

export const isSingle = ({ writes, events, signals, documents }: Append): boolean => {
  const [write] = writes
  if (write === undefined || writes.length > 1 || write.create !== null) return false
  const { facts, headHash, opensWaits, closesWaits, task } = write
  if (task !== undefined || facts.length !== 1 || facts[0]?.hash !== headHash) return false
  return [opensWaits, closesWaits, events, signals, documents].every(({ length }) => length === 0)
}

/** The values column by column, in the order of COLUMNS; `isSingle` must hold for every append. */
export const singleValues = (batch: readonly Append[], clock: 'database' | 'caller'): string[] => {
  const texts = new ColumnTexts(COLUMNS)
  for (const [place, append] of batch.entries()) {
    const due = clock === 'database' ? null : instantOf(append)
    for (const { stream, expectedVersion, epoch, status, wakeAt, release, seenSignal, facts } of append.writes) {
      for (const { type, recordedAt, body, hash } of facts) {
        texts.add(place, toUuid(stream), expectedVersion, epoch, status, wakeAt, release, seenSignal, due)
        texts.add(quote(append.appendId), quote(type), recordedAt, quote(body), quote(hash))
      }
    }
  }
  return texts.literals()
}
