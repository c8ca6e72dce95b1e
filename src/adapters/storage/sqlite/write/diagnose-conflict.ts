/**
 * Finds out why an append conflicts: it is written already, it is fenced, or something that it creates exists.
 *
 * Owns the outcome and the order of checks. Reads only, on tables without any trace of this attempt.
 */
import { idBytes, rowAs, type StreamRow, toRunId } from '#adapters/storage/sqlite/rows.ts'
import { findStream, type Scope } from '#adapters/storage/sqlite/scope.ts'
import type { StreamId } from '#model/kernel/ids.ts'
import type { Append, NewEvent, Outcome, StreamWrite } from '#ports/ledger.ts'
import { fits } from './stream.ts'

interface IdentityRow {
  readonly seq: number
  readonly data_hash: string
  readonly append_id: string
}

export const diagnoseConflict = (scope: Scope, append: Append): Outcome =>
  repeated(scope, append) ??
  fenced(scope, append) ??
  taken(scope, append) ??
  created(scope, append) ??
  inItself(scope, append)

const repeated = (scope: Scope, append: Append): Outcome | null => {
  if (!wasWritten(scope, append)) return null
  const sequences = append.events.map((entry) => identityOf(scope, entry)?.seq ?? 0)
  return { kind: 'already_written', sequences, position: firstPosition(scope, append), signalled: [] }
}

/** Appends are all or nothing: one trace of the append proves that all of it was written (ledger-3). */
const wasWritten = (scope: Scope, append: Append): boolean =>
  append.writes.some((write) => write.facts.length > 0 && appendAt(scope, write) === append.appendId) ||
  append.events.some((entry) => identityOf(scope, entry)?.append_id === append.appendId) ||
  isReleased(scope, append)

const appendAt = ({ sql, known, facts }: Scope, { stream, expectedVersion }: StreamWrite): unknown => {
  const key = known.key(sql, stream)
  return key === null ? null : facts.at(key, expectedVersion)?.['append_id']
}

const identityOf = ({ sql }: Scope, { event }: NewEvent): IdentityRow | null => {
  const row = sql.eventIdentity.get(event.id, event.source, event.tenant)
  return row === undefined ? null : rowAs<IdentityRow>(row)
}

/** A release without new facts leaves only the missing lease as a trace: only its own holder can have released at this epoch. */
export const isReleased = (scope: Scope, { writes, events }: Append): boolean =>
  writes.length > 0 && events.length === 0 && writes.every((write) => isReleasedStream(scope, write))

const isReleasedStream = (scope: Scope, write: StreamWrite): boolean => {
  if (write.facts.length > 0 || write.epoch === null) return false
  const row = findStream(scope, write.stream)
  return row?.lease === null && fits(row, write)
}

/** The position when it was first written, as far as callers rely on it: the base of the runs it created. */
const firstPosition = ({ sql, known }: Scope, { writes }: Append): number => {
  const created = writes.find(({ create }) => create?.event === null && create.sequence === undefined)
  const row = created && sql.baseOf.get(idBytes(created.stream))
  return Number(row?.['base'] ?? known.position(sql))
}

const fenced = (scope: Scope, { writes }: Append): Outcome | null => {
  for (const write of writes) {
    if (write.create !== null) continue
    const row = findStream(scope, write.stream)
    if (fits(row, write)) continue
    const hasEpoch = row === null || write.epoch === null || row.epoch === write.epoch
    return conflict(write.stream, row, hasEpoch ? 'version' : 'epoch')
  }
  return null
}

const taken = (scope: Scope, { events }: Append): Outcome | null => {
  for (const entry of events) {
    const row = identityOf(scope, entry)
    if (row === null) continue
    const runs = scope.sql.runsOfEvent.all(row.seq).map((run) => toRunId(run['id'] as Uint8Array))
    return { kind: 'conflict', reason: 'taken', sequence: row.seq, dataHash: row.data_hash, runs }
  }
  return null
}

const created = (scope: Scope, { writes }: Append): Outcome | null => {
  for (const { stream, create } of writes) {
    const row = create === null ? null : findStream(scope, stream)
    if (row !== null) return conflict(stream, row, 'version')
  }
  return null
}

/** The append conflicts with itself: it contains one event twice, or two runs for one event and handler. */
const inItself = (scope: Scope, { writes: [write], events: [entry] }: Append): Outcome =>
  write === undefined
    ? { kind: 'conflict', reason: 'taken', sequence: 0, dataHash: entry?.dataHash ?? '', runs: [] }
    : conflict(write.stream, findStream(scope, write.stream), 'version')

const conflict = (stream: StreamId, row: StreamRow | null, reason: 'version' | 'epoch'): Outcome => ({
  kind: 'conflict',
  reason,
  stream,
  version: row?.version ?? 0,
  epoch: row?.epoch ?? 0,
})
