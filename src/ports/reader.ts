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
  /** Runs whose id ends with these digits, at most two: enough to tell none, one or several. */
  runsEndingWith(tenant: TenantId, digits: string): Promise<readonly RunId[]>
  children(tenant: TenantId, id: RunId): Promise<readonly RunSummary[]>
  /** The facts of a run, a session or a task from this one on, oldest first. */
  facts(
    tenant: TenantId,
    id: RunId | SessionId | TaskId,
    page: { readonly after: number; readonly limit: number },
  ): Promise<readonly SealedFact[]>
  /** How many runs have each status; of one handler, if it is named. */
  counts(tenant: TenantId, handler?: string): Promise<ReadonlyMap<RunStatus, number>>
  /** The same for pages, however many there are: of each status at most so many, the newest, are looked at. */
  newestCounts(tenant: TenantId, most: number): Promise<NewestCounts>
  events(query: {
    readonly tenant: TenantId
    readonly type: string | null
    readonly before: number | null
    readonly limit: number
  }): Promise<readonly StoredEvent[]>
  /** Events with this id, oldest first: each source has its own ids. At most ten. */
  eventsWithId(tenant: TenantId, id: string): Promise<readonly StoredEvent[]>
  /** The runs that this event started by itself, by handler. */
  startedBy(tenant: TenantId, event: number, limit: number): Promise<readonly RunSummary[]>
  suppressed(tenant: TenantId, event: number): Promise<readonly Suppression[]>
  document(tenant: TenantId, table: string, key: string): Promise<Json | null>
  /** One page of a table, in the order of the keys. The cursor is the last key of the page before. */
  documents(query: DocumentQuery): Promise<readonly Document[]>
  /** Workers that beat and were not given up, in the order of their ids. The cursor is the last id of the page before. */
  workers(query: { readonly after: WorkerId | null; readonly limit: number }): Promise<readonly WorkerSummary[]>
  /** The runs on which this worker has the lease, oldest first. */
  heldBy(tenant: TenantId, worker: WorkerId, limit: number): Promise<readonly RunSummary[]>
  /** Runs of every tenant that are due and that nobody has, by handler and version: of those that have been due longest, at most so many. */
  due(now: Instant, most: number): Promise<readonly DueRuns[]>
  /** Open runs by the definition that they are pinned to: of each status at most so many, the newest, are looked at. */
  pinned(tenant: TenantId, most: number): Promise<readonly PinnedRuns[]>
  /** One page of an inbox. The cursor is the last id of the page before. */
  tasks(query: TaskQuery): Promise<readonly TaskSummary[]>
  task(tenant: TenantId, id: TaskId): Promise<TaskSummary | null>
  /** How many open tasks have each status: of these addresses, or all. Of each status at most so many places in inboxes are looked at. */
  taskCounts(tenant: TenantId, addresses: readonly string[] | null, most: number): Promise<TaskCounts>
  /** What the views of an inbox are counted from, of each at most so many: however many wait, it ends. */
  inboxGlance(query: GlanceQuery): Promise<InboxGlance>
  /** How many tasks are open, by type and by whether their deadline has passed. */
  openTasks(tenant: TenantId, now: Instant): Promise<readonly OpenTasks[]>
  /** One page of sessions, newest first. The cursor is the last id of the page before. */
  sessions(query: SessionQuery): Promise<readonly SessionSummary[]>
  session(tenant: TenantId, id: SessionId): Promise<SessionSummary | null>
  /** Sessions that began at a checkpoint of this one, oldest first. */
  forks(tenant: TenantId, id: SessionId): Promise<readonly SessionSummary[]>
  /** One page of the runs of a session, newest first. */
  sessionRuns(query: SessionRunQuery): Promise<readonly RunSummary[]>
  /**
   * Facts that may hold what a model was paid for, in the order of their time, from `from` until before `to`. The caller reads each and
   * tells whether it does. The cursor is the last one of the page before.
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
  /** Since when the first of them has been due. */
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

/** By when they were asked, or by their deadlines: the nearest first, those without one last. */
export type TaskOrder = 'newest' | 'oldest' | 'deadline'

export interface TaskQuery {
  readonly tenant: TenantId
  /** Closed ones, and those of one run, come newest first, whatever the order asked for. */
  readonly isOpen: boolean
  /** Those that are in one of these inboxes; null: everybody's. */
  readonly addresses: ViewedTasks['addresses']
  /** Leaves out what this person has put off beyond now; or all else, if that is the trait. */
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
  /** Absent: of any session, and of none. */
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
  /** Null: an older version, which does not tell. */
  readonly info: WorkerInfo | null
  /** How many leases it has, of runs of every tenant. */
  readonly leases: number
}
