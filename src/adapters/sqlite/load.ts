/**
 * Streams with their facts, many at once: two statements however many are asked for.
 *
 * Owns the reading of records. Never keeps anything and never writes.
 */
import type { StreamId } from '../../model/ids.ts'
import type { LoadOptions, SealedFact, StreamRecord } from '../../ports/ledger.ts'
import { idDigits, toFact, toRecord } from './rows.ts'
import type { Statements } from './statements.ts'

export const loadStreams = (
  sql: Statements,
  streams: readonly StreamId[],
  { after = 0, last = Number.POSITIVE_INFINITY }: LoadOptions,
): readonly (StreamRecord | null)[] => {
  const rows = sql.streamRecords.all(JSON.stringify(streams.map(idDigits)))
  const wanted = rows.map((row) => [row['key'], Math.max(after, Number(row['version']) - last)])
  const facts = factsOf(sql, JSON.stringify(wanted))
  const records = new Map<StreamId, StreamRecord>()
  for (const row of rows) {
    const record = toRecord(row, facts.get(Number(row['key'])) ?? [])
    records.set(record.stream, record)
  }
  return streams.map((stream) => records.get(stream) ?? null)
}

const factsOf = (sql: Statements, wanted: string): ReadonlyMap<number, SealedFact[]> => {
  const facts = new Map<number, SealedFact[]>()
  for (const row of sql.factsFrom.all(wanted)) {
    const key = Number(row['stream'])
    const known = facts.get(key)
    if (known === undefined) facts.set(key, [toFact(row)])
    else known.push(toFact(row))
  }
  return facts
}
