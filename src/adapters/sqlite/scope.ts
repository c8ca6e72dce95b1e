/**
 * What every rule of the ledger works with inside one transaction: the statements, what is known without asking them, one stream.
 *
 * Owns no rule. Never writes.
 */
import type { ClaimableId, Instant, StreamId } from '../../model/ids.ts'
import type { Known } from './known.ts'
import { rowAs, type StreamRow } from './rows.ts'
import type { Statements } from './statements.ts'

export interface Scope {
  readonly sql: Statements
  readonly known: Known
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

export const findStream = ({ sql, known }: Scope, stream: StreamId): StreamRow | null => {
  const key = known.key(sql, stream)
  const row = key === null ? undefined : sql.streamState.get(key)
  return row === undefined ? null : rowAs<StreamRow>(row)
}
