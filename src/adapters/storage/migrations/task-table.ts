/**
 * The row of a task in the tables of both dialects: its columns and their meaning.
 *
 * Owns how a row, and a count of open tasks, is read. The dialects own how ids and booleans are stored.
 */
import { claimableId, type Instant, runId, type TaskId, type TenantId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'

export const TASK_COLUMNS = `t.id, t.tenant, t.run, t.step, t.status, t.is_open, t.type, t.title, t.addresses, t.claimed_by, t.priority,
  t.deadline, t.created_at, t.updated_at, t.put_off, t.summary`

/**
 * True for a task `t` that a person or a rule has escalated with a reason. Searches the text, in which no value can look like it: Postgres
 * would refuse to read the summary as JSON if it had a zero character anywhere.
 */
const escalated = (find: string): string => `${find}(t.summary, '"escalationReason":"') > 0`

export const ESCALATED = { sqlite: escalated('instr'), postgres: escalated('strpos') } as const

export interface StoredTask<Id, Flag> {
  readonly id: Id
  readonly tenant: TenantId
  readonly run: Id
  readonly step: string
  readonly status: string
  readonly is_open: Flag
  readonly type: string
  readonly title: string
  readonly addresses: string
  readonly claimed_by: string | null
  readonly priority: number
  readonly deadline: Instant | null
  readonly created_at: Instant
  readonly updated_at: Instant
  readonly put_off: string
  readonly summary: string
}

/** `digits` returns the digits of an id, with or without dashes. */
export const taskOf = <Id>(row: StoredTask<Id, number | boolean>, digits: (id: Id) => string) => ({
  id: claimableId(digits(row.id)) as TaskId,
  tenant: row.tenant,
  run: runId(digits(row.run)),
  step: row.step,
  status: row.status,
  isOpen: Boolean(row.is_open),
  type: row.type,
  title: row.title,
  addresses: JSON.parse(row.addresses) as readonly string[],
  claimedBy: row.claimed_by,
  priority: row.priority,
  deadlineAt: row.deadline,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  putOff: JSON.parse(row.put_off) as Readonly<Record<string, Instant>>,
  summary: JSON.parse(row.summary) as Json,
})

/** How many tasks of a type are open, and how many of these are overdue. */
export interface OpenOfType {
  readonly type: string
  readonly count: number
  readonly overdue: number
}

/** Splits the count into overdue tasks and others, without empty groups. */
export const openTasksOf = ({ type, count, overdue }: OpenOfType) =>
  [
    { type, isOverdue: true, count: overdue },
    { type, isOverdue: false, count: count - overdue },
  ].filter((some) => some.count > 0)
