/**
 * What every rule of the ledger works with inside one transaction: the statements, what is known without asking them, one stream.
 *
 * Owns how a stream is looked up. The row of one that has a lease may stand behind its facts: its version is their number
 * (docs/decisions/0013). Never writes.
 */
import type { ClaimableId, Instant, StreamId } from '../../model/ids.ts'
import type { FactRows } from './facts.ts'
import type { Held, Known } from './known.ts'
import { rowAs, type StreamRow } from './rows.ts'
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

export const findStream = ({ sql, known, facts }: Scope, stream: StreamId): StreamRow | null => {
  const key = known.key(sql, stream)
  const found = key === null ? undefined : sql.streamState.get(key)
  if (found === undefined) return null
  const row = rowAs<StreamRow>(found)
  return row.lease === null ? row : { ...row, version: known.held(stream)?.version ?? facts.count(row.key) }
}

/** Null if nobody holds it. */
export const findHeld = (scope: Scope, stream: StreamId): Held | null => {
  const cached = scope.known.held(stream)
  if (cached !== undefined) return cached
  const row = findStream(scope, stream)
  if (row === null || row.lease === null) return null
  const held = heldOf(row)
  scope.known.keep(stream, held)
  return held
}

export const heldOf = ({
  key,
  version,
  epoch,
  status,
  recoveries,
}: Omit<StreamRow, 'id' | 'kind' | 'tenant' | 'signal' | 'wake_at' | 'lease'>): Held => ({
  key,
  epoch,
  status: recoveries === 0 ? status : null,
  version,
})
