/**
 * The Reader on a second, read-only connection to the ledger's file.
 *
 * Owns its queries, in plain SQL. Never writes, and never keeps a statement open between calls: that would delay checkpoints.
 */
import { Connection } from '#adapters/storage/sqlite/connection.ts'
import {
  type Database,
  LIMIT,
  type Preparer,
  prepareList,
  preparingLater,
  type Row,
} from '#adapters/storage/sqlite/driver.ts'
import {
  EVENT_COLUMNS,
  FACT_COLUMNS,
  idBytes,
  orNull,
  RUN,
  rowAs,
  toClaimableId,
  toEvent,
  toFact,
  toRunId,
  toSessionId,
} from '#adapters/storage/sqlite/rows.ts'
import { prepareLastDigits, runsEndingWith } from '#adapters/storage/sqlite/write/last-digits.ts'
import { NEVER } from '#adapters/storage/sqlite/write/worker.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { Instant, RunId, SessionId, TaskId, TenantId, WorkerId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { NewestCounts } from '#model/run/newest-counts.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { TaskCounts } from '#model/task/counts.ts'
import type { InboxGlance } from '#model/task/inbox-view.ts'
import type { PinnedRuns } from '#model/worker/pinned-runs.ts'
import type { WorkerInfo } from '#model/worker/worker-info.ts'
import type { SealedFact, Suppression } from '#ports/ledger.ts'
import type {
  Document,
  DocumentQuery,
  DueRuns,
  GlanceQuery,
  ModelCallFact,
  ModelCallQuery,
  OpenTasks,
  Reader,
  RunQuery,
  RunSummary,
  SessionQuery,
  SessionRunQuery,
  SessionSummary,
  TaskQuery,
  TaskSummary,
  WorkerSummary,
} from '#ports/reader.ts'
import { prepareFleetQueries, readDue, readPinned } from './fleet-reader.ts'
import { countNewest, countRuns, prepareRunQueries, RunTotals, readRuns, SUMMARY } from './run-reader.ts'
import { prepareSessionQueries, readForks, readModelCalls, readSession, readSessions } from './session-reader.ts'
import { glanceAt, prepareGlances } from './task-glance.ts'
import { countOpen, countTasks, prepareTaskQueries, readTask, readTasks } from './task-reader.ts'

interface SummaryRow {
  readonly id: Uint8Array
  readonly handler: string
  readonly status: RunStatus
  readonly session: Uint8Array | null
  readonly parent: Uint8Array | null
  readonly event: number | null
  readonly version: number
  readonly wake_at: Instant | null
  readonly lease: number | null
  readonly created_at: Instant
}

const RUNS = `${SUMMARY} from stream s`
const MOST_OF_AN_ID = 10
const OF_TENANT = `tenant = ? and kind = ${RUN}`

const prepareQueries = (db: Preparer) => ({
  run: db.prepare(`${RUNS} where ${OF_TENANT} and id = ?`),
  children: db.prepare(`${RUNS} where ${OF_TENANT} and parent = ? order by key`),
  facts: prepareList(
    db,
    `select ${FACT_COLUMNS} from fact f
    where stream = (select key from stream where tenant = ? and id = ?) and seq >= ? order by seq ${LIMIT}`,
  ),
  events: prepareList(db, `select ${EVENT_COLUMNS} from event where tenant = ? and seq < ? order by seq desc ${LIMIT}`),
  eventsOfType: prepareList(
    db,
    `select ${EVENT_COLUMNS} from event where type = ? and tenant = ? and seq < ? order by seq desc ${LIMIT}`,
  ),
  eventsWithId: prepareList(
    db,
    `select ${EVENT_COLUMNS} from event where id = ? and tenant = ? order by seq limit ${MOST_OF_AN_ID}`,
  ),
  startedBy: db.prepare(`${RUNS} where event = ? and ${OF_TENANT} order by handler ${LIMIT}`),
  suppressed: db.prepare(`select s.trigger_name, s.reason, s.detail from suppressed s join event e on e.seq = s.event
    where e.tenant = ? and e.seq = ? order by s.trigger_name`),
  workers: db.prepare(`select id, beat_at, info, (select count(*) from stream where lease = worker.key) as leases
    from worker where beat_at > ${NEVER} and (? is null or id > ?) order by id ${LIMIT}`),
  heldBy: db.prepare(
    `${RUNS} where ${OF_TENANT} and lease = (select key from worker where id = ?) order by key ${LIMIT}`,
  ),
  document: db.prepare('select body from document where tenant = ? and table_name = ? and key = ?'),
  documents: db.prepare(`select key, body from document
    where tenant = ? and table_name = ? and (? is null or key > ?) order by key ${LIMIT}`),
  ...prepareRunQueries(db),
  ...prepareFleetQueries(db),
  ...prepareLastDigits(db),
  ...prepareTaskQueries(db),
  ...prepareGlances(db),
  ...prepareSessionQueries(db),
})

type Queries = ReturnType<typeof prepareQueries>

const toSummary = (raw: Row): RunSummary => {
  const row = rowAs<SummaryRow>(raw)
  return {
    id: toRunId(row.id),
    handler: row.handler,
    status: row.status,
    session: orNull(row.session, toSessionId),
    parent: orNull(row.parent, toClaimableId),
    event: row.event,
    version: row.version,
    wakeAt: row.wake_at,
    leased: row.lease !== null,
    createdAt: row.created_at,
  }
}

const toSuppression = (row: Row): Suppression => ({
  trigger: String(row['trigger_name']),
  reason: row['reason'] as Suppression['reason'],
  detail: String(row['detail']),
})

const toWorker = (row: Row): WorkerSummary => ({
  id: row['id'] as WorkerId,
  beatAt: Number(row['beat_at']),
  info: row['info'] === null ? null : (JSON.parse(String(row['info'])) as WorkerInfo),
  leases: Number(row['leases']),
})

export class SqliteReader implements Reader {
  readonly #connection: Connection<Queries>
  readonly #totals = new RunTotals()

  constructor(open: () => Database) {
    this.#connection = new Connection({ reopen: open, prepare: (db) => prepareQueries(preparingLater(db)) })
  }

  async runs(query: RunQuery): Promise<readonly RunSummary[]> {
    return this.#connection.read((queries) => readRuns(queries, query).map(toSummary))
  }

  async run(tenant: TenantId, id: RunId): Promise<RunSummary | null> {
    const row = this.#connection.read((queries) => queries.run.get(tenant, idBytes(id)))
    return row === undefined ? null : toSummary(row)
  }

  runsEndingWith(tenant: TenantId, digits: string): Promise<readonly RunId[]> {
    return runsEndingWith((work) => this.#connection.read(work), tenant, digits)
  }

  async children(tenant: TenantId, id: RunId): Promise<readonly RunSummary[]> {
    return this.#connection.read((queries) => queries.children.all(tenant, idBytes(id)).map(toSummary))
  }

  async facts(
    tenant: TenantId,
    id: RunId | SessionId | TaskId,
    { after, limit }: { after: number; limit: number },
  ): Promise<readonly SealedFact[]> {
    return this.#connection.read((queries) => queries.facts.all(tenant, idBytes(id), after, limit).map(toFact))
  }

  async counts(tenant: TenantId, handler?: string): Promise<ReadonlyMap<RunStatus, number>> {
    return this.#connection.read((queries) => countRuns(queries, this.#totals, tenant, handler ?? null))
  }

  async newestCounts(tenant: TenantId, most: number): Promise<NewestCounts> {
    return this.#connection.read((queries) => countNewest(queries, tenant, most))
  }

  async events(query: Parameters<Reader['events']>[0]): Promise<readonly StoredEvent[]> {
    const { tenant, type, limit } = query
    const before = query.before ?? Number.MAX_SAFE_INTEGER
    return this.#connection.read(({ events, eventsOfType }) =>
      (type === null ? events.all(tenant, before, limit) : eventsOfType.all(type, tenant, before, limit)).map(toEvent),
    )
  }

  async eventsWithId(tenant: TenantId, id: string): Promise<readonly StoredEvent[]> {
    return this.#connection.read((queries) => queries.eventsWithId.all(id, tenant).map(toEvent))
  }

  async startedBy(tenant: TenantId, event: number, limit: number): Promise<readonly RunSummary[]> {
    return this.#connection.read((queries) => queries.startedBy.all(event, tenant, limit).map(toSummary))
  }

  async suppressed(tenant: TenantId, event: number): Promise<readonly Suppression[]> {
    return this.#connection.read((queries) => queries.suppressed.all(tenant, event).map(toSuppression))
  }

  async workers({ after, limit }: { after: WorkerId | null; limit: number }): Promise<readonly WorkerSummary[]> {
    return this.#connection.read((queries) => queries.workers.all(after, after, limit).map(toWorker))
  }

  async heldBy(tenant: TenantId, worker: WorkerId, limit: number): Promise<readonly RunSummary[]> {
    return this.#connection.read((queries) => queries.heldBy.all(tenant, worker, limit).map(toSummary))
  }

  async due(now: Instant, most: number): Promise<readonly DueRuns[]> {
    return this.#connection.read((queries) => readDue(queries, now, most))
  }

  async pinned(tenant: TenantId, most: number): Promise<readonly PinnedRuns[]> {
    return this.#connection.read((queries) => readPinned(queries, tenant, most))
  }

  async document(tenant: TenantId, table: string, key: string): Promise<Json | null> {
    const row = this.#connection.read((queries) => queries.document.get(tenant, table, key))
    return row === undefined ? null : (JSON.parse(String(row['body'])) as Json)
  }

  async documents({ tenant, table, after, limit }: DocumentQuery): Promise<readonly Document[]> {
    const rows = this.#connection.read((queries) => queries.documents.all(tenant, table, after, after, limit))
    return rows.map((row) => ({ key: String(row['key']), value: JSON.parse(String(row['body'])) as Json }))
  }

  async tasks(query: TaskQuery): Promise<readonly TaskSummary[]> {
    return this.#connection.read((queries) => readTasks(queries, query))
  }

  async task(tenant: TenantId, id: TaskId): Promise<TaskSummary | null> {
    return this.#connection.read((queries) => readTask(queries, tenant, id))
  }

  async taskCounts(tenant: TenantId, addresses: readonly string[] | null, most: number): Promise<TaskCounts> {
    return this.#connection.read((queries) => countTasks(queries, tenant, addresses, most))
  }

  async inboxGlance(query: GlanceQuery): Promise<InboxGlance> {
    return this.#connection.read((queries) => glanceAt(queries, query))
  }

  async openTasks(tenant: TenantId, now: Instant): Promise<readonly OpenTasks[]> {
    return this.#connection.read((queries) => countOpen(queries, tenant, now))
  }

  async sessions(query: SessionQuery): Promise<readonly SessionSummary[]> {
    return this.#connection.read((queries) => readSessions(queries, query))
  }

  async session(tenant: TenantId, id: SessionId): Promise<SessionSummary | null> {
    return this.#connection.read((queries) => readSession(queries, tenant, id))
  }

  async forks(tenant: TenantId, id: SessionId): Promise<readonly SessionSummary[]> {
    return this.#connection.read((queries) => readForks(queries, tenant, id))
  }

  sessionRuns(query: SessionRunQuery): Promise<readonly RunSummary[]> {
    return this.runs({ ...query, status: null, handler: null })
  }

  async modelCalls(query: ModelCallQuery): Promise<readonly ModelCallFact[]> {
    return this.#connection.read((queries) => readModelCalls(queries, query))
  }

  close(): void {
    this.#connection.close()
  }
}
