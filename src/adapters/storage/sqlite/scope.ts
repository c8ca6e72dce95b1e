/**
 * What every rule of the ledger works with inside one transaction: the statements, what is known without asking them, one stream.
 *
 * Owns how a stream is looked up. The row of one that has a lease may stand behind its facts: its version is their number
 * (docs/decisions/0013). Never writes.
 */
import type { FactRows } from '#adapters/storage/sqlite/write/facts.ts'
import { Held, type Known } from '#adapters/storage/sqlite/write/row-cache.ts'
import type { ClaimableId, Instant, StreamId } from '#model/kernel/ids.ts'
import { idBytes, rowAs, type StreamRow } from './rows.ts'
import type { Statements } from './statements.ts'

export interface Scope {
  readonly sql: Statements
  readonly known: Known
  readonly facts: FactRows
}

/** What one append says about all of its writes. */
export interface Context {
  readonly appendId: string
  readonly now: Instant | null
  /** The sequences of its events; empty while they are not written. */
  readonly sequences: readonly number[]
  /** Grows with the runs that become due. */
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
  const kept = known.keep(stream, new Held(row, row.lease))
  kept.version = facts.count(row.key)
  return kept
}

/** Null if nobody holds it. */
export const findHeld = (scope: Scope, stream: StreamId): Held | null => {
  const row = findStream(scope, stream)
  return row === null || row.lease === null ? null : (scope.known.held(stream) ?? null)
}
