/**
 * The outbox in a user's own database: rows that a trigger there writes with each change of a table, until they are told.
 *
 * outbox-1  A change and its row are one transaction of the user's: there is a row if and only if the change was committed.
 * outbox-2  A row has an id that no other row ever has, also after the outbox was removed and installed again.
 * outbox-3  A row stays until it is forgotten. Nothing is read by position: on a shared database a later one may commit first.
 * outbox-4  `install` and `remove` may be called twice. `remove` drops what `install` made and forgets what was not told.
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
  /** Letters and digits: part of the names of what is installed. */
  readonly key: string
  readonly table: string
  readonly on: readonly TableChange[]
}

export interface OutboxRow {
  readonly id: string
  readonly change: TableChange
  /** As it is after the change; for a delete, as it was. */
  readonly row: Json
  /** As it was before an update. */
  readonly before: Json | null
  readonly at: Instant
}
