/**
 * What was committed, by whichever process of a shared ledger, in one order for all of them. For pages only: hints of what to ask again.
 *
 * Promised: who has read up to a position and goes on from there is told of every later commit once, in order; or gets null, when that
 * cannot be told any more (too much has happened, or the store has forgotten). A commit may be told late, never out of turn.
 */
import type { StreamId, TenantId } from '#model/kernel/ids.ts'

/** Everything before it has been seen. */
export interface ChangePosition {
  /** Names what the numbers count in: those of another life mean nothing. */
  readonly life: string
  readonly at: number
  readonly place: number
}

export interface Change {
  /** Null: there are new events. */
  readonly stream: StreamId | null
  /** Where a reader goes on that has seen this one. */
  readonly next: ChangePosition
}

export interface ChangePage {
  readonly items: readonly Change[]
  readonly next: ChangePosition
}

export interface ChangeFeed {
  /** Where a reader begins that wants to know what comes from now on. */
  begin(): Promise<ChangePosition>
  since(tenant: TenantId, position: ChangePosition): Promise<ChangePage | null>
  /** `listener` is called soon after another process has committed to the stream. A hint: it may come twice, late or not at all. */
  follow(stream: StreamId, listener: () => void): () => void
}
