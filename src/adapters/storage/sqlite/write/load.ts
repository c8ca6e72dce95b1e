/**
 * Streams with their facts, many at once: two statements however many are asked for, one for those that were just claimed.
 *
 * Owns the reading of records. Never keeps anything and never writes.
 */
import {
  type DueRow,
  idDigits,
  type RecordRow,
  RUN,
  rowAs,
  toClaimedRecord,
  toEvent,
  toFact,
  toRecord,
} from '#adapters/storage/sqlite/rows.ts'
import type { Statements } from '#adapters/storage/sqlite/statements.ts'
import type { StreamId, WorkerId } from '#model/kernel/ids.ts'
import type { Claims, LoadOptions, SealedFact, StreamRecord } from '#ports/ledger.ts'

const NO_FACTS: ReadonlyMap<number, SealedFact[]> = new Map()

export const loadStreams = (
  sql: Statements,
  streams: readonly StreamId[],
  { after = 0, last = Number.POSITIVE_INFINITY }: LoadOptions,
): readonly (StreamRecord | null)[] => {
  const rows = sql.streamRecords.all(JSON.stringify(streams.map(idDigits)))
  const wanted = rows.map((row) => [row['key'], Math.max(after, Number(row['version']) - last)])
  // Whoever asks for heads alone asks for many.
  const facts = after === Number.MAX_SAFE_INTEGER ? NO_FACTS : factsOf(sql, JSON.stringify(wanted))
  const records = new Map<StreamId, StreamRecord>()
  for (const row of rows) {
    const record = toRecord(rowAs<RecordRow>(row), facts.get(Number(row['key'])) ?? [])
    records.set(record.stream, record)
  }
  return streams.map((stream) => records.get(stream) ?? null)
}

/** What a claimer asks for next. Of runs alone: a coordinator has a checkpoint, and begins from there. */
export const loadClaimed = (
  sql: Statements,
  worker: WorkerId,
  due: readonly DueRow[],
): Pick<Claims, 'records' | 'events'> => {
  const runs = due.filter(({ kind }) => kind === RUN)
  const facts = factsOf(sql, JSON.stringify(runs.map(({ key }) => [key, 0])))
  const records = runs.map((row) => toClaimedRecord(row, worker, facts.get(row.key) ?? []))
  const sequences = runs.flatMap(({ event }) => event ?? [])
  return { records, events: sql.triggers.all(JSON.stringify(sequences)).map(toEvent) }
}

const STREAM_OF_FACT = 4

const factsOf = (sql: Statements, wanted: string): ReadonlyMap<number, SealedFact[]> => {
  const facts = new Map<number, SealedFact[]>()
  for (const row of sql.factsFrom.all(wanted)) {
    const key = Number(row[STREAM_OF_FACT])
    const known = facts.get(key)
    if (known === undefined) facts.set(key, [toFact(row)])
    else known.push(toFact(row))
  }
  return facts
}
