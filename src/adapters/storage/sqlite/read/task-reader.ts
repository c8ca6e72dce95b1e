/**
 * Queries on tasks: pages of inboxes, one task, counts.
 *
 * Owns their SQL. An inbox is read from its index in display order; several inboxes are read one by one and merged here, because SQLite
 * would sort all of them. Selective filters (a status, a type, a claimant) use an index of their own.
 */
import {
  ESCALATED,
  type OpenOfType,
  openTasksOf,
  type StoredTask,
  TASK_COLUMNS,
  taskOf,
} from '#adapters/storage/migrations/task-table.ts'
import { LIMIT, type Preparer, type Row, type Statement, type Value } from '#adapters/storage/sqlite/driver.ts'
import { idBytes, orNull, rowAs } from '#adapters/storage/sqlite/rows.ts'
import { EVERYBODY, NEVER } from '#adapters/storage/sqlite/write/task.ts'
import type { Instant, TaskId, TenantId } from '#model/kernel/ids.ts'
import { type LookedAt, type TaskCounts, taskCounts } from '#model/task/counts.ts'
import { OPEN_STATUSES } from '#model/task/spec.ts'
import type { OpenTasks, TaskOrder, TaskQuery, TaskSummary } from '#ports/reader.ts'

/** After every id. A bound that is always present lets a page begin in the index; an optional one makes it read from the start. */
const LAST = `x'${'ff'.repeat(17)}'`

/**
 * Conditions with the same values in each query: three filters, twice each; the viewer, the time and whether postponed tasks are wanted; a
 * trait.
 */
const FILTERS = `(? is null or t.status = ?) and (? is null or t.type = ?) and (? is null or t.claimed_by = ?)
  and (? is null or (coalesce((select value from json_each(t.put_off) where key = ?), 0) > ?) = ?)
  and case ? when 'unclaimed' then t.claimed_by is null when 'overdue' then t.deadline <= ? when 'escalated' then ${ESCALATED.sqlite} else 1 end`

const inbox = (status: string): string =>
  `select ${TASK_COLUMNS} from task_address a cross join task t on t.id = a.task where a.tenant = ? and a.address = ? ${status} and ${FILTERS}`
const INBOX = inbox('')
/** Tasks of one status, which the address row has, in the order of tasks. */
const OF_STATUS = inbox('and a.status = ?')
const NEWEST = `and a.task < coalesce(?, ${LAST}) order by a.task desc ${LIMIT}`
const OLDEST = `and a.task > coalesce(?, x'00') order by a.task ${LIMIT}`
const OTHERS = `select ${TASK_COLUMNS} from task t where t.tenant = ?`
const IN_SOME = `${FILTERS}
  and (? is null or exists (select 1 from json_each(t.addresses) a where a.value in (select value from json_each(?))))`
const OF_OTHERS = `${IN_SOME} and (? is null or t.id < ?) order by t.id desc ${LIMIT}`
const OF_OTHERS_OLDEST = `${IN_SOME} and (? is null or t.id > ?) order by t.id ${LIMIT}`
const OF_OTHERS_BY_DEADLINE = `${IN_SOME} and (coalesce(t.deadline, ${NEVER}), t.id)
    > (coalesce((select coalesce(deadline, ${NEVER}) from task where id = ?), -1), coalesce(?, x'00'))
  order by coalesce(t.deadline, ${NEVER}), t.id ${LIMIT}`
const TAKEN = `${OTHERS} and t.is_open = 1 and t.claimed_by is not null and t.claimed_by = ?`
const TYPE = `${OTHERS} and t.is_open = 1 and t.type = ?`

export const prepareTaskQueries = (db: Preparer) => ({
  newest: db.prepare(`${INBOX} ${NEWEST}`),
  oldest: db.prepare(`${INBOX} ${OLDEST}`),
  newestOfStatus: db.prepare(`${OF_STATUS} ${NEWEST}`),
  oldestOfStatus: db.prepare(`${OF_STATUS} ${OLDEST}`),
  deadline: db.prepare(
    `${INBOX} and (a.deadline, a.task) > (coalesce((select coalesce(deadline, ${NEVER}) from task where id = ?), -1), coalesce(?, x'00'))
    and a.deadline <= ? order by a.deadline, a.task ${LIMIT}`,
  ),
  newestTaken: db.prepare(`${TAKEN} and ${OF_OTHERS}`),
  oldestTaken: db.prepare(`${TAKEN} and ${OF_OTHERS_OLDEST}`),
  deadlineTaken: db.prepare(`${TAKEN} and ${OF_OTHERS_BY_DEADLINE}`),
  newestOfType: db.prepare(`${TYPE} and ${OF_OTHERS}`),
  oldestOfType: db.prepare(`${TYPE} and ${OF_OTHERS_OLDEST}`),
  closed: db.prepare(`${OTHERS} and t.is_open = 0 and ${OF_OTHERS}`),
  ofRun: db.prepare(`${OTHERS} and t.run = ? and t.is_open = ? and ${OF_OTHERS}`),
  task: db.prepare(`select ${TASK_COLUMNS} from task t where t.tenant = ? and t.id = ?`),
  countInbox: db.prepare(`select count(*) as count, count(*) as looked from (
    select 1 from task_address a indexed by task_status where a.address = ? and a.tenant = ? and a.status = ? ${LIMIT})`),
  /** Type and deadline are in the index: no row is read. */
  countOpen: db.prepare(
    `select type, count(*) as count, coalesce(sum(deadline <= ?), 0) as overdue from task indexed by task_type
    where tenant = ? and is_open = 1 group by type`,
  ),
  /** A task may be in several inboxes. */
  countInboxes: db.prepare(`select count(distinct task) as count, count(*) as looked from (
    select a.task from json_each(?) w cross join task_address a indexed by task_status
    on a.address = w.value and a.tenant = ? and a.status = ? ${LIMIT})`),
})

type TaskQueries = ReturnType<typeof prepareTaskQueries>

export const readTasks = (sql: TaskQueries, query: TaskQuery): readonly TaskSummary[] => {
  const cursor = orNull(query.after, idBytes)
  const { run } = query
  if (run !== null) return readOthers(sql.ofRun, query, [idBytes(run), query.isOpen ? 1 : 0])
  if (!query.isOpen) return readOthers(sql.closed, query, [])
  const { claimedBy, type, order } = query
  if (claimedBy !== null) return readOthers(sql[`${order}Taken`], query, [claimedBy])
  // In deadline order the inbox is read from its index: otherwise all tasks of a type would have to be sorted.
  if (type !== null && query.addresses === null && order !== 'deadline')
    return readOthers(sql[`${order}OfType`], query, [type])
  const { statement, place } = inboxOf(sql, query)
  const latest = query.only?.trait === 'overdue' ? query.only.now : NEVER
  const cursors = order === 'deadline' ? [cursor, cursor, latest] : [cursor]
  const found = new Map<TaskId, TaskSummary>()
  for (const address of query.addresses ?? [EVERYBODY]) {
    const rows = statement.all(query.tenant, address, ...place, ...filtersOf(query), ...cursors, query.limit)
    for (const task of rows.map(toTask)) found.set(task.id, task)
  }
  return [...found.values()].sort(BY[order]).slice(0, query.limit)
}

const inboxOf = (
  sql: TaskQueries,
  { order, status }: TaskQuery,
): { readonly statement: Statement; readonly place: readonly Value[] } =>
  status === null || order === 'deadline'
    ? { statement: sql[order], place: [] }
    : { statement: sql[`${order}OfStatus`], place: [status] }

const readOthers = (statement: Statement, query: TaskQuery, place: readonly Value[]): readonly TaskSummary[] => {
  const addresses = orNull(query.addresses, (list) => JSON.stringify(list))
  const cursor = orNull(query.after, idBytes)
  const values = [query.tenant, ...place, ...filtersOf(query), addresses, addresses, cursor, cursor, query.limit]
  return statement.all(...values).map(toTask)
}

export const readTask = (sql: TaskQueries, tenant: TenantId, id: TaskId): TaskSummary | null => {
  const row = sql.task.get(tenant, idBytes(id))
  return row === undefined ? null : toTask(row)
}

export const countTasks = (
  sql: TaskQueries,
  tenant: TenantId,
  addresses: readonly string[] | null,
  most: number,
): TaskCounts => {
  const inboxes = addresses ?? [EVERYBODY]
  const [one] = inboxes
  const [statement, which] =
    inboxes.length === 1 && one !== undefined ? [sql.countInbox, one] : [sql.countInboxes, JSON.stringify(inboxes)]
  const found = OPEN_STATUSES.map((status) => ({
    status,
    ...rowAs<Omit<LookedAt, 'status'>>(statement.all(which, tenant, status, most)[0] as Row),
  }))
  return taskCounts(found, most)
}

export const countOpen = (sql: TaskQueries, tenant: TenantId, now: Instant): readonly OpenTasks[] =>
  sql.countOpen.all(now, tenant).flatMap((row) => openTasksOf(rowAs<OpenOfType>(row)))

const filtersOf = ({ status, type, claimedBy, viewer, only }: TaskQuery): Value[] => {
  const [user, now] = [viewer?.user ?? null, viewer?.now ?? null]
  const { trait = null, now: then = null } = only ?? {}
  return [
    ...[status, status, type, type, claimedBy, claimedBy],
    ...[user, user, now, trait === 'later' ? 1 : 0, trait, then],
  ]
}

const byId = (a: TaskSummary, b: TaskSummary): number => (a.id < b.id ? -1 : 1)

const BY: Readonly<Record<TaskOrder, (a: TaskSummary, b: TaskSummary) => number>> = {
  newest: (a, b) => byId(b, a),
  oldest: byId,
  deadline: (a, b) => (a.deadlineAt ?? NEVER) - (b.deadlineAt ?? NEVER) || byId(a, b),
}

const toTask = (row: Row): TaskSummary =>
  taskOf(rowAs<StoredTask<Uint8Array, number>>(row), (id) => Buffer.from(id).toString('hex'))
