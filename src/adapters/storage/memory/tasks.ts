/** Tasks on a memory store: the rows of the inbox and their queries. Scans where a database has an index. */
import type { Instant, TaskId, TenantId } from '#model/kernel/ids.ts'
import { type TaskCounts, taskCounts } from '#model/task/counts.ts'
import type { InboxGlance } from '#model/task/inbox-view.ts'
import { OPEN_STATUSES } from '#model/task/spec.ts'
import type { StreamWrite, TaskRow } from '#ports/ledger.ts'
import type { GlanceQuery, OpenTasks, TaskOrder, TaskQuery, TaskSummary } from '#ports/reader.ts'

export class MemoryTasks {
  readonly #rows = new Map<TaskId, TaskSummary>()

  /** ledger-9. Called for every write to a stream. */
  keep({ stream, task }: StreamWrite): void {
    if (task !== undefined) this.#rows.set(stream as TaskId, { ...structuredClone(task), id: stream as TaskId })
  }

  find(tenant: TenantId, id: TaskId): TaskSummary | null {
    const row = this.#rows.get(id)
    return row?.tenant === tenant ? structuredClone(row) : null
  }

  page(query: TaskQuery): readonly TaskSummary[] {
    const before = comparing(query.isOpen && query.run === null ? query.order : 'newest')
    const cursor = query.after === null ? undefined : this.#rows.get(query.after)
    return [...this.#rows.values()]
      .filter((row) => isWanted(row, query) && (cursor === undefined || before(cursor, row) < 0))
      .sort(before)
      .slice(0, query.limit)
      .map((row) => structuredClone(row))
  }

  counts(tenant: TenantId, addresses: readonly string[] | null, most: number): TaskCounts {
    const open = [...this.#rows.values()].filter((row) => row.tenant === tenant && row.isOpen)
    const inboxes = addresses === null ? [open] : addresses.map((one) => open.filter((row) => isAddressed(row, [one])))
    const found = OPEN_STATUSES.map((status) => {
      const places = inboxes.flatMap((inbox) => inbox.filter((row) => row.status === status)).slice(0, most)
      return { status, count: new Set(places).size, looked: places.length }
    })
    return taskCounts(found, most)
  }

  glance({ tenant, addresses, now, most }: GlanceQuery): InboxGlance {
    const rows = [...this.#rows.values()]
      .filter((row) => row.tenant === tenant && row.isOpen && isAddressed(row, addresses))
      .sort((a, b) => byId(b, a))
    return {
      newest: rows.slice(0, most).map((row) => ({
        addresses: row.addresses,
        isClaimed: row.claimedBy !== null,
        isEscalated: isEscalated(row),
        putOff: { ...row.putOff },
      })),
      overdue: Math.min(rows.filter((row) => isOverdue(row, now)).length, most),
    }
  }

  open(tenant: TenantId, now: Instant): readonly OpenTasks[] {
    const counts = new Map<string, OpenTasks>()
    for (const row of this.#rows.values()) {
      if (row.tenant !== tenant || !row.isOpen) continue
      const { type } = row
      const isLate = isOverdue(row, now)
      const key = `${isLate} ${type}`
      counts.set(key, { type, isOverdue: isLate, count: (counts.get(key)?.count ?? 0) + 1 })
    }
    return [...counts.values()]
  }
}

const isAddressed = (row: TaskRow, addresses: readonly string[] | null): boolean =>
  addresses === null || row.addresses.some((address) => addresses.includes(address))

const isOverdue = ({ deadlineAt }: TaskRow, now: Instant): boolean => deadlineAt !== null && deadlineAt <= now

const isEscalated = ({ summary }: TaskRow): boolean =>
  ((summary as { readonly escalationReason?: string | null }).escalationReason ?? null) !== null

const has = (row: TaskSummary, { only, viewer }: TaskQuery): boolean => {
  switch (only?.trait) {
    case 'unclaimed':
      return row.claimedBy === null
    case 'overdue':
      return isOverdue(row, only.now)
    case 'escalated':
      return isEscalated(row)
    case 'later':
      return viewer === null || isPutOff(row, viewer)
    case undefined:
      return true
  }
}

const isPutOff = ({ putOff }: TaskRow, { user, now }: NonNullable<TaskQuery['viewer']>): boolean =>
  (putOff[user] ?? 0) > now

const isWanted = (row: TaskSummary, query: TaskQuery): boolean =>
  row.tenant === query.tenant &&
  row.isOpen === query.isOpen &&
  isAddressed(row, query.addresses) &&
  (query.status === null || row.status === query.status) &&
  (query.type === null || row.type === query.type) &&
  (query.claimedBy === null || row.claimedBy === query.claimedBy) &&
  (query.run === null || row.run === query.run) &&
  (query.viewer === null || query.only?.trait === 'later' || !isPutOff(row, query.viewer)) &&
  has(row, query)

const byId = (a: TaskSummary, b: TaskSummary): number => (a.id === b.id ? 0 : a.id < b.id ? -1 : 1)

const byDeadline = (a: TaskSummary, b: TaskSummary): number => {
  const [first, second] = [a.deadlineAt ?? Infinity, b.deadlineAt ?? Infinity]
  return first === second ? byId(a, b) : first < second ? -1 : 1
}

const comparing = (order: TaskOrder): ((a: TaskSummary, b: TaskSummary) => number) => {
  switch (order) {
    case 'newest':
      return (a, b) => byId(b, a)
    case 'oldest':
      return byId
    case 'deadline':
      return byDeadline
  }
}
