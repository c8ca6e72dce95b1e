/**
 * Queries for the counts of an inbox's views: its newest tasks, and those that are overdue.
 *
 * Owns their SQL. Reads a bounded number of rows of each inbox from its index, and merges them.
 */
import { ESCALATED } from '#adapters/storage/migrations/task-table.ts'
import type { Database, Statement } from '#adapters/storage/postgres/pool.ts'
import { EVERYBODY } from '#adapters/storage/postgres/write/batch.ts'
import type { Instant } from '#model/kernel/ids.ts'
import type { InboxGlance } from '#model/task/inbox-view.ts'
import type { GlanceQuery } from '#ports/reader.ts'

const NEWEST: Statement = {
  name: 'glance_newest',
  text: `select distinct on (id) id, addresses, is_claimed, is_escalated, put_off from unnest($2::text[]) as w(address), lateral (
      select t.id, t.addresses, t.claimed_by is not null as is_claimed, ${ESCALATED.postgres} as is_escalated, t.put_off
      from (select a.task from task_address a where a.tenant = $1 and a.address = w.address order by a.task desc limit $3) a,
        lateral (select * from task t where t.id = a.task offset 0) t) page
    order by id desc limit $3`,
}
const OVERDUE: Statement = {
  name: 'glance_overdue',
  text: `select least(count(distinct task), $3)::int as count from unnest($2::text[]) as w(address), lateral (
      select a.task from task_address a where a.tenant = $1 and a.address = w.address and a.deadline <= $4 order by a.deadline limit $3) page`,
}

interface Stored {
  readonly addresses: string
  readonly is_claimed: boolean
  readonly is_escalated: boolean
  readonly put_off: string
}

export const glanceAt = async (
  database: Database,
  { tenant, addresses, now, most }: GlanceQuery,
): Promise<InboxGlance> => {
  const inboxes = addresses ?? [EVERYBODY]
  const [newest, [late]] = await Promise.all([
    database.query<Stored>(NEWEST, [tenant, inboxes, most]),
    database.query<{ count: number }>(OVERDUE, [tenant, inboxes, most, now]),
  ])
  return {
    newest: newest.map((row) => ({
      addresses: JSON.parse(row.addresses) as readonly string[],
      isClaimed: row.is_claimed,
      isEscalated: row.is_escalated,
      putOff: JSON.parse(row.put_off) as Readonly<Record<string, Instant>>,
    })),
    overdue: late?.count ?? 0,
  }
}
