/**
 * Writes one append to the tables, inside a transaction that the caller commits.
 *
 * Owns the order: fences first, then events, then streams, which need the events' sequences, then signals and documents.
 * An append that conflicts stops at that point; diagnose-conflict.ts finds the reason, on tables without traces of the append.
 */
import type { StreamRow } from '#adapters/storage/sqlite/rows.ts'
import { type Context, findLeased, findStream, type Scope } from '#adapters/storage/sqlite/scope.ts'
import { Step } from '#adapters/storage/sqlite/thread/packed-step.ts'
import type { ClaimableId, Instant } from '#model/kernel/ids.ts'
import type { Append, DocumentWrite, Outcome, StreamWrite } from '#ports/ledger.ts'
import { isReleased } from './diagnose-conflict.ts'
import { addEvent } from './event.ts'
import { signalNamed, signalWaiting } from './signal.ts'
import { createStream, fits, isStep, writeStep, writeStream } from './stream.ts'

/** `clean`: refused before anything of the append was written. `partial`: its first writes must be undone. */
export type Attempt = Outcome | 'clean' | 'partial'

export const write = (scope: Scope, entry: Append | Step): Attempt => {
  if (entry instanceof Step) return writeIfHeld(scope, entry, entry.appendId) ?? writeAll(scope, entry.toAppend())
  const [first] = entry.writes
  if (first === undefined || !isBare(entry) || !isStep(first)) return writeAll(scope, entry)
  return writeIfHeld(scope, first, entry.appendId) ?? writeAll(scope, entry)
}

/** Null if the run has no lease, or if more than its facts would change. */
const writeIfHeld = (scope: Scope, step: Step | StreamWrite, appendId: string): Attempt | null => {
  const held = findLeased(scope, step.stream)
  if (held === null || held.status !== step.status || held.recoveries > 0) return null
  return writeStep(scope, step, held, appendId) ? scope.known.written(scope.sql) : 'clean'
}

/** True if the append writes to one stream and nothing else. */
export const isBare = ({ writes, events, signals, documents }: Append): boolean =>
  writes.length === 1 && events.length === 0 && signals.length === 0 && documents.length === 0

const writeAll = (scope: Scope, append: Append): Attempt => {
  const { writes, events, signals, documents, appendId } = append
  const rows = fence(scope, writes)
  if (rows === null || isReleased(scope, append)) return 'clean'
  const sequences = addEvents(scope, append)
  if (sequences.length < events.length) return sequences.length === 0 ? 'clean' : 'partial'
  const context: Context = { appendId, now: instantOf(append), sequences, signalled: new Set<ClaimableId>() }
  for (const [i, one] of writes.entries()) {
    if (!writeOne(scope, one, rows[i] ?? null, context)) return i === 0 && events.length === 0 ? 'clean' : 'partial'
  }
  for (const [i, { event }] of events.entries()) signalWaiting(scope, event, sequences[i] as number, context)
  for (const run of signals) signalNamed(scope, run, context)
  for (const document of documents) writeDocument(scope, document)
  return { kind: 'written', sequences, position: scope.known.position(scope.sql), signalled: [...context.signalled] }
}

/** The streams that the append continues, null for those it creates; null for all if one of them has changed (ledger-4). */
const fence = (scope: Scope, writes: readonly StreamWrite[]): readonly (StreamRow | null)[] | null => {
  const rows = writes.map(({ stream, create }) => (create === null ? findStream(scope, stream) : null))
  const isFenced = writes.some((one, i) => one.create === null && !fits(rows[i] ?? null, one))
  return isFenced ? null : rows
}

/** The sequences of the events up to the first that exists already. */
const addEvents = (scope: Scope, { events, appendId }: Append): readonly number[] => {
  const sequences: number[] = []
  for (const entry of events) {
    const sequence = addEvent(scope, entry, appendId)
    if (sequence === null) break
    sequences.push(sequence)
  }
  return sequences
}

const writeOne = (scope: Scope, one: StreamWrite, row: StreamRow | null, context: Context): boolean => {
  if (one.create !== null) return createStream(scope, one, one.create, context)
  if (row !== null) writeStream(scope, one, row, context)
  return row !== null
}

/**
 * The append's own instant defines "due at once": a claim made at that instant gets the run. Null: the append records nothing.
 * The time of an event does not count: its sender chose it, and it may lie in the future.
 */
const instantOf = ({ writes }: Append): Instant | null => {
  let latest = -Infinity
  for (const one of writes) latest = Math.max(latest, instantOfWrite(one))
  return latest === -Infinity ? null : latest
}

const instantOfWrite = ({ create, facts }: StreamWrite): Instant => {
  let latest = create?.createdAt ?? -Infinity
  for (const { recordedAt } of facts) latest = Math.max(latest, recordedAt)
  return latest
}

const writeDocument = ({ sql }: Scope, { tenant, table, key, value }: DocumentWrite): void => {
  if (value === null) sql.dropDocument.run(tenant, table, key)
  else sql.putDocument.run(tenant, table, key, JSON.stringify(value))
}
