/**
 * Writes the row of a task, and the inboxes it is in.
 *
 * Owns ledger-9. The engine owns the contents of the row. Never reads one (task-reader.ts).
 */
import { idBytes } from '#adapters/storage/sqlite/rows.ts'
import type { Scope } from '#adapters/storage/sqlite/scope.ts'
import type { StreamId } from '#model/kernel/ids.ts'
import type { TaskRow } from '#ports/ledger.ts'

/** Every open task is in this inbox too. */
export const EVERYBODY = '*'
/** Tasks without a deadline come last. */
export const NEVER = Number.MAX_SAFE_INTEGER

export const putTask = ({ sql }: Pick<Scope, 'sql'>, stream: StreamId, row: TaskRow): void => {
  const id = idBytes(stream)
  const { tenant, run, step, status, isOpen, type, title, claimedBy, priority, deadlineAt, createdAt, updatedAt } = row
  sql.putTask.run(
    ...[id, tenant, idBytes(run), step, status, isOpen ? 1 : 0, type, title, JSON.stringify(row.addresses), claimedBy],
    ...[priority, deadlineAt, createdAt, updatedAt, JSON.stringify(row.putOff), JSON.stringify(row.summary)],
  )
  sql.dropTaskAddresses.run(id)
  if (!isOpen) return
  for (const address of new Set([EVERYBODY, ...row.addresses]))
    sql.addTaskAddress.run(id, address, tenant, status, deadlineAt ?? NEVER)
}
