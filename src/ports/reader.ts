/**
 * The queries that people and pages need. Separate from the Ledger, so that the Ledger stays small.
 *
 * Reads only; answers may be a moment old; never used to decide what a run does next.
 */
import type { StoredEvent } from '#model/event/event.ts'
import type { ClaimableId, Instant, RunId, SessionId, TaskId, TenantId, WorkerId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { NewestCounts } from '#model/run/newest-counts.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { TaskCounts } from '#model/task/counts.ts'
import type { InboxGlance, ViewedTasks } from '#model/task/inbox-view.ts'
import type { PinnedRuns } from '#model/worker/pinned-runs.ts'
import type { WorkerInfo } from '#model/worker/worker-info.ts'
import type { SealedFact, Suppression, TaskRow } from './ledger.ts'

export interface Reader {
  /** One page of runs, newest first. The cursor is the last id of the page before. */
  runs(query: RunQuery): Promise<readonly RunSummary[]>
  run(tenant: TenantId, id: RunId): Promise<RunSummary | null>
  /** Returns the runs whose id ends with these digits, at most two: enough to tell none, one and several apart. */
  runsEndingWith(tenant: TenantId, digits: string): Promise<readonly RunId[]>
  children(tenant: TenantId, id: RunId): Promise<readonly RunSummary[]>
  /** Returns the facts of a run, a session or a task from this one on, oldest first. */
  facts(
    tenant: TenantId,
    id: RunId | SessionId | TaskId,
    page: { readonly after: number; readonly limit: number },
  ): Promise<readonly SealedFact[]>
  /** Returns how many runs have each status; only of one handler, if it is named. */
  counts(tenant: TenantId, handler?: string): Promise<ReadonlyMap<RunStatus, number>>
  /** The same at bounded cost, for pages: looks at no more than `most` of the newest runs of each status. */
  newestCounts(tenant: TenantId, most: number): Promise<NewestCounts>
  events(query: {
    readonly tenant: TenantId
    readonly type: string | null
    readonly before: number | null
    readonly limit: number
  }): Promise<readonly StoredEvent[]>
  /** Events with this id, oldest first: each source has its own ids. At most ten. */
  eventsWithId(tenant: TenantId, id: string): Promise<readonly StoredEvent[]>
  /** Returns the runs that this event started on its own, ordered by handler. */
  startedBy(tenant: TenantId, event: number, limit: number): Promise<readonly RunSummary[]>
  suppressed(tenant: TenantId, event: number): Promise<readonly Suppression[]>
  document(tenant: TenantId, table: string, key: string): Promise<Json | null>
  /** One page of a table, in the order of the keys. The cursor is the last key of the page before. */
  documents(query: DocumentQuery): Promise<readonly Document[]>
  /** Returns workers with a heartbeat that were not given up, ordered by id. The cursor is the last id of the page before. */
  workers(query: { readonly after: WorkerId | null; readonly limit: number }): Promise<readonly WorkerSummary[]>
  /** Returns the runs on which this worker has the lease, oldest first. */
  heldBy(tenant: TenantId, worker: WorkerId, limit: number): Promise<readonly RunSummary[]>
  /**
   * Counts due runs without a lease, of every tenant, by handler and version: looks at no more than `most` of those that have been due
   * longest.
   */
  due(now: Instant, most: number): Promise<readonly DueRuns[]>
  /** Counts open runs by the definition that they are pinned to: looks at no more than `most` of the newest of each status. */
  pinned(tenant: TenantId, most: number): Promise<readonly PinnedRuns[]>
  /** One page of an inbox. The cursor is the last id of the page before. */
  tasks(query: TaskQuery): Promise<readonly TaskSummary[]>
  task(tenant: TenantId, id: TaskId): Promise<TaskSummary | null>
  /** Counts open tasks by status, of these addresses or of all. Looks at no more than `most` places in inboxes of each status. */
  taskCounts(tenant: TenantId, addresses: readonly string[] | null, most: number): Promise<TaskCounts>
  /** Returns what the counts of the inbox views are made from, at most `most` of each: its cost is bounded however many tasks wait. */
  inboxGlance(query: GlanceQuery): Promise<InboxGlance>
  /** Counts the open tasks, by type and by whether their deadline has passed. */
  openTasks(tenant: TenantId, now: Instant): Promise<readonly OpenTasks[]>
  /** One page of sessions, newest first. The cursor is the last id of the page before. */
  sessions(query: SessionQuery): Promise<readonly SessionSummary[]>
  session(tenant: TenantId, id: SessionId): Promise<SessionSummary | null>
  /** Returns the sessions that were forked from a checkpoint of this one, oldest first. */
  forks(tenant: TenantId, id: SessionId): Promise<readonly SessionSummary[]>
  /** One page of the runs of a session, newest first. */
  sessionRuns(query: SessionRunQuery): Promise<readonly RunSummary[]>
  /**
   * Returns facts that may hold paid model calls, ordered by time, from `from` until before `to`. The caller reads each fact and decides
   * whether it does. The cursor is the last one of the page before.
   */
  modelCalls(query: ModelCallQuery): Promise<readonly ModelCallFact[]>
}

export interface SessionQuery {
  readonly tenant: TenantId
  readonly before: SessionId | null
  readonly limit: number
}

export interface SessionRunQuery {
  readonly tenant: TenantId
  readonly session: SessionId
  readonly before: RunId | null
  readonly limit: number
}

export interface SessionSummary {
  readonly id: SessionId
  /** The session that it was forked from. */
  readonly base: SessionId | null
  readonly version: number
  readonly createdAt: Instant
}

export interface ModelCallQuery {
  readonly tenant: TenantId
  readonly from: Instant
  readonly to: Instant
  readonly after: Pick<ModelCallFact, 'run' | 'seq' | 'fact'> | null
  readonly limit: number
}

export interface ModelCallFact {
  readonly run: RunId
  readonly seq: number
  readonly handler: string
  readonly fact: SealedFact
}

export interface DocumentQuery {
  readonly tenant: TenantId
  readonly table: string
  readonly after: string | null
  readonly limit: number
}

export interface Document {
  readonly key: string
  readonly value: Json
}

export interface DueRuns {
  readonly handler: string
  /** The version that they are pinned to (model/worker/pin.ts). */
  readonly version: string
  readonly count: number
  /** The instant since which the first of them has been due. */
  readonly since: Instant
}

export interface OpenTasks {
  readonly type: string
  readonly isOverdue: boolean
  readonly count: number
}

export interface TaskSummary extends TaskRow {
  readonly id: TaskId
}

/** Orders by when people were asked, or by deadline: the nearest first, tasks without one last. */
export type TaskOrder = 'newest' | 'oldest' | 'deadline'

export interface TaskQuery {
  readonly tenant: TenantId
  /** Closed tasks, and those of one run, come newest first, whatever order is asked for. */
  readonly isOpen: boolean
  /** Only tasks that are in one of these inboxes; null: all inboxes. */
  readonly addresses: ViewedTasks['addresses']
  /** Leaves out tasks that this person has snoozed beyond now; or all others, if `only` names that trait. */
  readonly viewer: ViewedTasks['viewer']
  readonly only?: ViewedTasks['only']
  readonly status: string | null
  readonly type: string | null
  readonly claimedBy: string | null
  readonly run: RunId | null
  readonly order: TaskOrder
  readonly after: TaskId | null
  readonly limit: number
}

export interface GlanceQuery {
  readonly tenant: TenantId
  readonly addresses: ViewedTasks['addresses']
  readonly now: Instant
  readonly most: number
}

export interface RunQuery {
  readonly tenant: TenantId
  readonly status: RunStatus | null
  readonly handler: string | null
  /** Absent: runs of any session and of none. */
  readonly session?: SessionId | null
  readonly before: RunId | null
  readonly limit: number
}

export interface RunSummary {
  readonly id: RunId
  readonly handler: string
  readonly status: RunStatus
  readonly session: SessionId | null
  readonly parent: ClaimableId | null
  readonly event: number | null
  readonly version: number
  readonly wakeAt: Instant | null
  readonly leased: boolean
  readonly createdAt: Instant
}

export interface WorkerSummary {
  readonly id: WorkerId
  readonly beatAt: Instant
  /** Null: a worker of an older version, which does not report it. */
  readonly info: WorkerInfo | null
  /** The number of leases that it has, of runs of every tenant. */
  readonly leases: number
}
