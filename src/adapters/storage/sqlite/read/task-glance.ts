/**
 * Queries for the counts of an inbox's views: its newest tasks, and those that are overdue.
 *
 * Owns their SQL. Each inbox is read from its index up to a limit; several are read one by one and merged here.
 */
import { ESCALATED } from '#adapters/storage/migrations/task-table.ts'
import { LIMIT, type Preparer } from '#adapters/storage/sqlite/driver.ts'
import { rowAs } from '#adapters/storage/sqlite/rows.ts'
import { EVERYBODY } from '#adapters/storage/sqlite/write/task.ts'
import type { InboxGlance, TaskGlance } from '#model/task/inbox-view.ts'
import type { GlanceQuery } from '#ports/reader.ts'

export const prepareGlances = (db: Preparer) => ({
  glance:
    db.prepare(`select hex(a.task) as id, t.addresses, t.claimed_by is not null as is_claimed, ${ESCALATED.sqlite} as is_escalated, t.put_off
    from task_address a cross join task t on t.id = a.task where a.tenant = ? and a.address = ? order by a.task desc ${LIMIT}`),
  overdue:
    db.prepare(`select hex(a.task) as id from task_address a where a.tenant = ? and a.address = ? and a.deadline <= ?
    order by a.deadline ${LIMIT}`),
})

interface Stored {
  readonly id: string
  readonly addresses: string
  readonly is_claimed: number
  readonly is_escalated: number
  readonly put_off: string
}

const toGlance = ({ addresses, is_claimed, is_escalated, put_off }: Stored): TaskGlance => ({
  addresses: JSON.parse(addresses) as readonly string[],
  isClaimed: is_claimed === 1,
  isEscalated: is_escalated === 1,
  putOff: JSON.parse(put_off) as TaskGlance['putOff'],
})

/** A task may be in several inboxes. Later tasks have greater ids. */
export const glanceAt = (
  sql: ReturnType<typeof prepareGlances>,
  { tenant, addresses, now, most }: GlanceQuery,
): InboxGlance => {
  const newest = new Map<string, Stored>()
  const overdue = new Set<string>()
  for (const address of addresses ?? [EVERYBODY]) {
    for (const row of sql.glance.all(tenant, address, most)) newest.set(String(row['id']), rowAs<Stored>(row))
    for (const row of sql.overdue.all(tenant, address, now, most)) overdue.add(String(row['id']))
  }
  const ordered = [...newest.values()].sort((a, b) => (a.id < b.id ? 1 : -1))
  return { newest: ordered.slice(0, most).map(toGlance), overdue: Math.min(overdue.size, most) }
}
