/**
 * Queries on tasks: pages of inboxes, one task, counts.
 *
 * Owns their SQL. An inbox is read from its index in display order; of several inboxes a page of each is read and merged.
 */
import {
  ESCALATED,
  type OpenOfType,
  openTasksOf,
  type StoredTask,
  TASK_COLUMNS,
  taskOf,
} from '#adapters/storage/migrations/task-table.ts'
import type { Database, Statement } from '#adapters/storage/postgres/pool.ts'
import { toUuid } from '#adapters/storage/postgres/rows.ts'
import { EVERYBODY, NEVER } from '#adapters/storage/postgres/write/batch.ts'
import type { Instant, TaskId, TenantId } from '#model/kernel/ids.ts'
import { type LookedAt, type TaskCounts, taskCounts } from '#model/task/counts.ts'
import { OPEN_STATUSES } from '#model/task/spec.ts'
import type { OpenTasks, TaskOrder, TaskQuery, TaskSummary } from '#ports/reader.ts'

type Stored = StoredTask<string, boolean>

/** Conditions of a query: status, type and claimant; the viewer and the time; a trait ($10, $11). $8 is the addresses, $9 the cursor. */
const FILTERS = `($2::text is null or t.status = $2) and ($3::text is null or t.type = $3) and ($4::text is null or t.claimed_by = $4)
  and ($5::text is null or (coalesce((t.put_off::json ->> $5)::bigint, 0) > $6::bigint) = ($10::text is not distinct from 'later'))
  and case $10::text when 'unclaimed' then t.claimed_by is null when 'overdue' then t.deadline <= $11::bigint
    when 'escalated' then ${ESCALATED.postgres} else true end`

/** Bounds before and after every id. A bound that is always present lets a page begin in the index. */
const FIRST = '00000000-0000-0000-0000-000000000000'
const LAST = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

const inbox = (order: TaskOrder, after: string, by: string, merged: string, name: string = order): Statement => ({
  name: `read_tasks_${name}`,
  text: `select * from (select distinct on (id) page.* from unnest($8::text[]) as w(address), lateral (
      select ${TASK_COLUMNS} from (select a.task, a.deadline, a.status from task_address a where a.tenant = $1 and a.address = w.address
        and ${after} order by ${by}) a,
        lateral (select * from task t where t.id = a.task offset 0) t
      where ${FILTERS} order by ${by} limit $7) page) found order by ${merged} limit $7`,
})

const NEWEST = ['newest', `a.task < coalesce($9::uuid, '${LAST}')`, 'a.task desc', 'id desc'] as const
const OLDEST = ['oldest', `a.task > coalesce($9::uuid, '${FIRST}')`, 'a.task', 'id'] as const
const INBOXES: Readonly<Record<TaskOrder, Statement>> = {
  newest: inbox(...NEWEST),
  oldest: inbox(...OLDEST),
  deadline: inbox(
    'deadline',
    `(a.deadline, a.task) > (coalesce((select coalesce(c.deadline, ${NEVER}) from task c where c.id = $9), -1),
      coalesce($9::uuid, '${FIRST}')) and a.deadline <= case $10::text when 'overdue' then $11::bigint else ${NEVER} end`,
    'a.deadline, a.task',
    `coalesce(deadline, ${NEVER}), id`,
  ),
}

const IN_SOME = `($8::text[] is null or exists (select from json_array_elements_text(t.addresses::json) a where a = any($8)))`

/** The address row has the status. Written as a range of pairs: only the index of statuses has them in this order. */
const OF_STATUS = {
  newest: inbox(
    'newest',
    `(a.status, a.task) < ($2::text, coalesce($9::uuid, '${LAST}')) and (a.status, a.task) >= ($2::text, '${FIRST}'::uuid)`,
    'a.status desc, a.task desc',
    'id desc',
    'newest_of_status',
  ),
  oldest: inbox(
    'oldest',
    `(a.status, a.task) > ($2::text, coalesce($9::uuid, '${FIRST}')) and (a.status, a.task) <= ($2::text, '${LAST}'::uuid)`,
    'a.status, a.task',
    'id',
    'oldest_of_status',
  ),
}

const others = (name: string, which: string): Statement => ({
  name: `read_tasks_${name}`,
  text: `select ${TASK_COLUMNS} from task t where t.tenant = $1 and ${which} and ${FILTERS} and ${IN_SOME}
    and ($9::uuid is null or t.id < $9) order by t.id desc limit $7`,
})

/**
 * Open tasks by a value of a column. Written as a range of pairs: only the index of that column has them in this order, whatever the planner's
 * statistics.
 */
const open = (column: string, value: string, which: 'newest' | 'oldest', cursor = '$9::uuid'): string => {
  const bounds =
    which === 'newest'
      ? `(t.${column}, t.id) < (${value}, coalesce(${cursor}, '${LAST}')) and (t.${column}, t.id) >= (${value}, '${FIRST}'::uuid)`
      : `(t.${column}, t.id) > (${value}, coalesce(${cursor}, '${FIRST}')) and (t.${column}, t.id) <= (${value}, '${LAST}'::uuid)`
  const back = which === 'newest' ? 'desc' : ''
  return `select ${TASK_COLUMNS} from task t where t.tenant = $1 and t.is_open and t.${column} is not null and ${bounds} and ${FILTERS}
    and ${IN_SOME} order by t.${column} ${back}, t.id ${back}`
}
const CLOSED = others('closed', 'not t.is_open')
const OF_RUN = others('of_run', 't.run = $12 and t.is_open = $13')
const TAKEN: Readonly<Record<TaskOrder, Statement>> = {
  newest: { name: 'read_tasks_taken_newest', text: `${open('claimed_by', '$4::text', 'newest')} limit $7` },
  oldest: { name: 'read_tasks_taken_oldest', text: `${open('claimed_by', '$4::text', 'oldest')} limit $7` },
  // The tasks of one person are few enough to be sorted.
  deadline: {
    name: 'read_tasks_taken_deadline',
    text: `select * from (${open('claimed_by', '$4::text', 'oldest', 'null::uuid')} offset 0) t where (coalesce(deadline, ${NEVER}), id)
      > (coalesce((select coalesce(c.deadline, ${NEVER}) from task c where c.id = $9), -1), coalesce($9::uuid, '${FIRST}'))
      order by coalesce(deadline, ${NEVER}), id limit $7`,
  },
}
const OF_TYPE = {
  newest: { name: 'read_tasks_of_type_newest', text: `${open('type', '$3::text', 'newest')} limit $7` },
  oldest: { name: 'read_tasks_of_type_oldest', text: `${open('type', '$3::text', 'oldest')} limit $7` },
}

const TASK: Statement = {
  name: 'read_task',
  text: `select ${TASK_COLUMNS} from task t where t.tenant = $1 and t.id = $2`,
}
/** Values: tenant, inbox or inboxes, statuses, how many places of each. */
const counted = (name: string, numbers: string, places: string): Statement => ({
  name,
  text: `select wanted.status, n.* from unnest($3::text[]) as wanted(status), lateral (
    select ${numbers}, count(*) as looked from (${places} limit $4::bigint) a) n`,
})
const placesOf = (
  address: string,
): string => `select a.task from task_address a where a.tenant = $1 and a.address = ${address}
  and (a.status, a.task) <= (wanted.status, '${LAST}'::uuid) and (a.status, a.task) >= (wanted.status, '${FIRST}'::uuid)
  order by a.status desc, a.task desc`
const COUNT_INBOX = counted('count_inbox', 'count(*) as count', placesOf('$2'))
/** A task may be in several inboxes. */
const COUNT_INBOXES = counted(
  'count_inboxes',
  'count(distinct task) as count',
  `select a.task from unnest($2::text[]) as w(address), lateral (${placesOf('w.address')} limit $4::bigint) a`,
)
/** Type and deadline are in the index of types: no row is read. */
const COUNT_OPEN: Statement = {
  name: 'count_open_tasks',
  text: `select type, count(*) as count, count(*) filter (where deadline <= $2) as overdue from task where tenant = $1 and is_open
    group by type`,
}

export const readTasks = async (database: Database, query: TaskQuery): Promise<readonly TaskSummary[]> => {
  const { run, isOpen } = query
  if (run !== null) return ask(database, OF_RUN, [...valuesOf(query, null), toUuid(run), isOpen])
  if (!isOpen) return ask(database, CLOSED, valuesOf(query, null))
  const { order } = query
  if (query.claimedBy !== null) return ask(database, TAKEN[order], valuesOf(query, null))
  // In deadline order the inbox is read from its index: otherwise all tasks of a type would have to be sorted.
  if (order === 'deadline') return ask(database, INBOXES.deadline, valuesOf(query, [EVERYBODY]))
  if (query.type !== null && query.addresses === null) return ask(database, OF_TYPE[order], valuesOf(query, null))
  return ask(database, (query.status === null ? INBOXES : OF_STATUS)[order], valuesOf(query, [EVERYBODY]))
}

const ask = async (
  database: Database,
  statement: Statement,
  values: Parameters<Database['query']>[1],
): Promise<readonly TaskSummary[]> => (await database.query<Stored>(statement, values)).map(toTask)

const valuesOf = (query: TaskQuery, everybody: readonly string[] | null) => {
  const { tenant, status, type, claimedBy, viewer, only, limit } = query
  const after = query.after === null ? null : toUuid(query.after)
  return [
    ...[tenant, status, type, claimedBy, viewer?.user ?? null, viewer?.now ?? null, limit],
    ...[query.addresses ?? everybody, after, only?.trait ?? null, only?.now ?? null],
  ]
}

export const readTask = async (database: Database, tenant: TenantId, id: TaskId): Promise<TaskSummary | null> => {
  const [row] = await database.query<Stored>(TASK, [tenant, toUuid(id)])
  return row === undefined ? null : toTask(row)
}

export const countTasks = async (
  database: Database,
  tenant: TenantId,
  addresses: readonly string[] | null,
  most: number,
): Promise<TaskCounts> => {
  const inboxes = addresses ?? [EVERYBODY]
  const [one] = inboxes
  const [statement, which] =
    inboxes.length === 1 && one !== undefined ? ([COUNT_INBOX, one] as const) : ([COUNT_INBOXES, inboxes] as const)
  const rows = await database.query<LookedAt>(statement, [tenant, which, OPEN_STATUSES, most])
  return taskCounts(rows, most)
}

export const countOpen = async (database: Database, tenant: TenantId, now: Instant): Promise<readonly OpenTasks[]> => {
  return (await database.query<OpenOfType>(COUNT_OPEN, [tenant, now])).flatMap(openTasksOf)
}

const toTask = (row: Stored): TaskSummary => taskOf(row, (id) => id)
