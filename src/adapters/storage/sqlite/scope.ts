/**
 * The context of every rule of the ledger inside one transaction: the statements, the row cache, the facts; and the lookup of a stream.
 *
 * Owns how a stream is looked up. The row of a stream with a lease may lag behind its facts: its version is their number
 * (docs/decisions/0013). Never writes.
 */
import type { FactRows } from '#adapters/storage/sqlite/write/facts.ts'
import { LeasedRow, type RowCache } from '#adapters/storage/sqlite/write/row-cache.ts'
import type { ClaimableId, Instant, StreamId } from '#model/kernel/ids.ts'
import { idBytes, rowAs, type StreamRow } from './rows.ts'
import type { Statements } from './statements.ts'

export interface Scope {
  readonly sql: Statements
  readonly known: RowCache
  readonly facts: FactRows
}

/** Values that all writes of one append share. */
export interface Context {
  readonly appendId: string
  readonly now: Instant | null
  /** The sequences of its events; empty until they are written. */
  readonly sequences: readonly number[]
  /** Collects the runs that become due. */
  readonly signalled: Set<ClaimableId>
}

export const findStream = (scope: Scope, stream: StreamId): StreamRow | null => {
  const { sql, known, facts } = scope
  const held = known.held(stream)
  if (held !== undefined) return held
  const found = sql.streamState.get(idBytes(stream))
  if (found === undefined) return null
  const row = rowAs<StreamRow>(found)
  if (row.lease === null) return row
  const kept = known.keep(stream, new LeasedRow(row, row.lease))
  kept.version = facts.count(row.key)
  return kept
}

/** Null if the stream has no lease. */
export const findLeased = (scope: Scope, stream: StreamId): LeasedRow | null => {
  const row = findStream(scope, stream)
  return row === null || row.lease === null ? null : (scope.known.held(stream) ?? null)
}
