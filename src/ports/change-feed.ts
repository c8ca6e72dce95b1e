/**
 * The commits of all processes that share a ledger, in one order for all of them. For pages only: hints about what to query again.
 *
 * Promise: a reader that has read up to a position and continues from there receives every later commit once, in order. It receives null
 * when that is no longer possible (too much has happened, or the store has forgotten). A commit may be reported late, never out of order.
 */
import type { StreamId, TenantId } from '#model/kernel/ids.ts'

/** A position in the feed: everything before it has been seen. */
export interface ChangePosition {
  /** Names the numbering of this position: numbers of another life mean nothing here. */
  readonly life: string
  readonly at: number
  readonly place: number
}

export interface Change {
  /** Null: there are new events. */
  readonly stream: StreamId | null
  /** Where a reader that has seen this change continues. */
  readonly next: ChangePosition
}

export interface ChangePage {
  readonly items: readonly Change[]
  readonly next: ChangePosition
}

export interface ChangeFeed {
  /** Returns the position from which a reader sees everything that is committed from now on. */
  begin(): Promise<ChangePosition>
  since(tenant: TenantId, position: ChangePosition): Promise<ChangePage | null>
  /** `listener` is called soon after another process has committed to the stream. A hint: it may come twice, late or not at all. */
  follow(stream: StreamId, listener: () => void): () => void
}
