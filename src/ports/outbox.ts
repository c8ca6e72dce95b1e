/**
 * The outbox in a user's own database: rows that a trigger there writes with each change of a table, kept until they are published.
 *
 * outbox-1  A change and its row are one transaction of the user's: there is a row if and only if the change was committed.
 * outbox-2  A row has an id that no other row ever has, also after the outbox was removed and installed again.
 * outbox-3  A row stays until `forget` is called for it. Nothing is read by position: on a shared database a later row may commit first.
 * outbox-4  `install` and `remove` may be called twice. `remove` drops what `install` made, and the rows that were not published.
 */
import type { TableChange } from '#model/event/watch.ts'
import type { Instant } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'

export interface Outbox {
  install(watch: OutboxWatch): Promise<void>
  remove(watch: OutboxWatch): Promise<void>
  isInstalled(watch: OutboxWatch): Promise<boolean>
  /** Oldest first. */
  read(watch: OutboxWatch, limit: number): Promise<readonly OutboxRow[]>
  forget(ids: readonly string[]): Promise<void>
  close(): Promise<void>
}

export interface OutboxWatch {
  /** Letters and digits: part of the names that `install` creates. */
  readonly key: string
  readonly table: string
  readonly on: readonly TableChange[]
}

export interface OutboxRow {
  readonly id: string
  readonly change: TableChange
  /** The row after the change; for a delete, the row before it. */
  readonly row: Json
  /** The row before an update. */
  readonly before: Json | null
  readonly at: Instant
}
