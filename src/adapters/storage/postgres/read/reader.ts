/**
 * The Reader on the ledger's own connections.
 *
 * Owns its queries, in plain SQL. Never writes.
 */
import { LAST_DIGITS } from '#adapters/storage/migrations/0010-lookups.ts'
import type { Database, Statement } from '#adapters/storage/postgres/pool.ts'
import {
  EVENT_COLUMNS,
  type EventRow,
  type FactRow,
  RUN,
  toEvent,
  toFact,
  toParent,
  toSessionId,
  toUuid,
} from '#adapters/storage/postgres/rows.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { Instant, RunId, SessionId, TaskId, TenantId, WorkerId } from '#model/kernel/ids.ts'
import { runId } from '#model/kernel/ids.ts'
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
import { readDue, readPinned } from './fleet-reader.ts'
import { Gathered } from './gathered.ts'
import { countNewest, countRuns, RunTotals, readRuns, SUMMARY, type SummaryRow } from './run-reader.ts'
import { readForks, readModelCalls, readSession, readSessions } from './session-reader.ts'
import { glanceAt } from './task-glance.ts'
import { countOpen, countTasks, readTask, readTasks } from './task-reader.ts'

interface WorkerRow {
  readonly id: WorkerId
  readonly beat_at: Instant
  readonly info: string | null
  readonly leases: number
}

interface SuppressionRow {
  readonly trigger_name: string
  readonly reason: Suppression['reason']
  readonly detail: string
}

const OF_TENANT = `tenant = $1 and kind = ${RUN}`
const HEX = /^[0-9a-f]{0,32}$/

const ONE_RUN: Statement = { name: 'read_run', text: `${SUMMARY} where ${OF_TENANT} and id = $2` }
const CHILDREN: Statement = {
  name: 'read_children',
  text: `select * from (${SUMMARY} where ${OF_TENANT} and parent = $2 offset 0) child order by id`,
}
const endsSo = (id: string): string => `right(replace(${id}::text, '-', ''), length($2)) = $2 limit 2`
const [TAIL, WANTED_TAIL] = [LAST_DIGITS.of('stream'), `decode(right($2, ${LAST_DIGITS.digits}), 'hex')`]
/**
 * Finds a run by its first fact, which has an index of last digits. Written as a range: only that index has them in this order. The
 * condition on the epoch holds for every fact and is in no index: without it the index of all facts looks cheaper while there are few.
 */
const RUNS_ENDING_WITH: Statement = {
  name: 'read_runs_ending_with',
  text: `select f.stream as id from (select stream from fact where ${LAST_DIGITS.where} and epoch >= 0
      and ${TAIL} >= ${WANTED_TAIL} and ${TAIL} <= ${WANTED_TAIL} order by ${TAIL} offset 0) f,
    lateral (select tenant, kind from stream where id = f.stream offset 0) s where ${OF_TENANT} and ${endsSo('f.stream')}`,
}
/** Too few digits for that index: where there are many runs, two with this ending are soon found. */
const RUNS_ENDING_WITH_FEW: Statement = {
  name: 'read_runs_ending_with_few',
  text: `select id from stream where ${OF_TENANT} and ${endsSo('id')}`,
}
const FACTS: Statement = {
  name: 'read_facts',
  text: `select f.stream, f.type, f.recorded_at, f.body, f.hash from stream s join fact f on f.stream = s.id
    where s.tenant = $1 and s.id = $2 and f.seq >= $3 order by f.seq limit $4`,
}
const EVENTS: Statement = {
  name: 'read_events',
  text: `select ${EVENT_COLUMNS} from event where tenant = $1 and seq < $2 order by seq desc limit $3`,
}
const MOST_OF_AN_ID = 10
const EVENTS_WITH_ID: Statement = {
  name: 'read_events_with_id',
  text: `select * from (select ${EVENT_COLUMNS} from event where id = $2 and tenant = $1 offset 0) found order by seq
    limit ${MOST_OF_AN_ID}`,
}
const STARTED_BY: Statement = {
  name: 'read_started_by',
  text: `select * from (${SUMMARY} where ${OF_TENANT} and event = $2 offset 0) started order by handler collate "C" limit $3`,
}
const EVENTS_OF_TYPE: Statement = {
  name: 'read_events_of_type',
  text: `select ${EVENT_COLUMNS} from event where tenant = $1 and seq < $2 and type = $4 order by seq desc limit $3`,
}
const SUPPRESSED: Statement = {
  name: 'read_suppressed',
  text: `select s.trigger_name, s.reason, s.detail from event e join suppressed s on s.event = e.seq
    where e.tenant = $1 and e.seq = $2 order by s.trigger_name`,
}
const DOCUMENT: Statement = {
  name: 'read_document',
  text: `select w.place::int as place, d.body from unnest($1::text[], $2::text[], $3::text[]) with ordinality as w (tenant, table_name, key, place),
    lateral (select body from document where tenant = w.tenant and table_name = w.table_name and key = w.key offset 0) d`,
}

/** Many callers read single documents at the same moment. */
type DocumentName = readonly [tenant: TenantId, table: string, key: string]
const DOCUMENTS_AT_ONCE = 256

const DOCUMENTS: Statement = {
  name: 'read_documents',
  text: `select key, body from document where tenant = $1 and table_name = $2 and ($3::text is null or key collate "C" > $3)
    order by key collate "C" limit $4`,
}

/** Ordered by bytes: ids are plain ASCII, whatever the database's collation. */
const WORKERS: Statement = {
  name: 'read_workers',
  text: `select id, beat_at, info, (select count(*) from stream where lease = worker.id) as leases from worker
    where $1::text is null or id collate "C" > $1 order by id collate "C" limit $2`,
}
const HELD_BY: Statement = {
  name: 'read_held_by',
  text: `select * from (${SUMMARY} where ${OF_TENANT} and lease = $2 offset 0) held order by id limit $3`,
}

const toWorker = ({ id, beat_at, info, leases }: WorkerRow): WorkerSummary => ({
  id,
  beatAt: beat_at,
  info: info === null ? null : (JSON.parse(info) as WorkerInfo),
  leases,
})

const toSummary = (row: SummaryRow): RunSummary => ({
  id: runId(row.id),
  handler: row.handler,
  status: row.status,
  session: toSessionId(row.session),
  parent: toParent(row.parent),
  event: row.event,
  version: row.version,
  wakeAt: row.wake_at,
  leased: row.lease !== null,
  createdAt: row.created_at,
})

export class PostgresReader implements Reader {
  readonly #database: Database
  readonly #totals = new RunTotals()
  readonly #bodies = new Gathered((names: readonly DocumentName[]) => this.#bodiesOf(names), DOCUMENTS_AT_ONCE)

  constructor(database: Database) {
    this.#database = database
  }

  async runs(query: RunQuery): Promise<readonly RunSummary[]> {
    return (await readRuns(this.#database, query)).map(toSummary)
  }

  async run(tenant: TenantId, id: RunId): Promise<RunSummary | null> {
    const [row] = await this.#database.query<SummaryRow>(ONE_RUN, [tenant, toUuid(id)])
    return row === undefined ? null : toSummary(row)
  }

  async runsEndingWith(tenant: TenantId, digits: string): Promise<readonly RunId[]> {
    const wanted = digits.toLowerCase()
    if (!HEX.test(wanted)) return []
    const statement = wanted.length < LAST_DIGITS.digits ? RUNS_ENDING_WITH_FEW : RUNS_ENDING_WITH
    const rows = await this.#database.query<{ id: string }>(statement, [tenant, wanted])
    return rows.map(({ id }) => runId(id))
  }

  async children(tenant: TenantId, id: RunId): Promise<readonly RunSummary[]> {
    const rows = await this.#database.query<SummaryRow>(CHILDREN, [tenant, toUuid(id)])
    return rows.map(toSummary)
  }

  async facts(
    tenant: TenantId,
    id: RunId | SessionId | TaskId,
    page: { after: number; limit: number },
  ): Promise<readonly SealedFact[]> {
    const rows = await this.#database.query<FactRow>(FACTS, [tenant, toUuid(id), page.after, page.limit])
    return rows.map(toFact)
  }

  async counts(tenant: TenantId, handler?: string): Promise<ReadonlyMap<RunStatus, number>> {
    return countRuns(this.#database, this.#totals, tenant, handler ?? null)
  }

  newestCounts(tenant: TenantId, most: number): Promise<NewestCounts> {
    return countNewest(this.#database, tenant, most)
  }

  async events({ tenant, type, before, limit }: Parameters<Reader['events']>[0]): Promise<readonly StoredEvent[]> {
    const values = [tenant, before ?? Number.MAX_SAFE_INTEGER, limit]
    const rows =
      type === null
        ? await this.#database.query<EventRow>(EVENTS, values)
        : await this.#database.query<EventRow>(EVENTS_OF_TYPE, [...values, type])
    return rows.map(toEvent)
  }

  async eventsWithId(tenant: TenantId, id: string): Promise<readonly StoredEvent[]> {
    return (await this.#database.query<EventRow>(EVENTS_WITH_ID, [tenant, id])).map(toEvent)
  }

  async startedBy(tenant: TenantId, event: number, limit: number): Promise<readonly RunSummary[]> {
    return (await this.#database.query<SummaryRow>(STARTED_BY, [tenant, event, limit])).map(toSummary)
  }

  async suppressed(tenant: TenantId, event: number): Promise<readonly Suppression[]> {
    const rows = await this.#database.query<SuppressionRow>(SUPPRESSED, [tenant, event])
    return rows.map(({ trigger_name, reason, detail }) => ({ trigger: trigger_name, reason, detail }))
  }

  async workers({ after, limit }: { after: WorkerId | null; limit: number }): Promise<readonly WorkerSummary[]> {
    return (await this.#database.query<WorkerRow>(WORKERS, [after, limit])).map(toWorker)
  }

  async heldBy(tenant: TenantId, worker: WorkerId, limit: number): Promise<readonly RunSummary[]> {
    return (await this.#database.query<SummaryRow>(HELD_BY, [tenant, worker, limit])).map(toSummary)
  }

  due(now: Instant, most: number): Promise<readonly DueRuns[]> {
    return readDue(this.#database, now, most)
  }

  pinned(tenant: TenantId, most: number): Promise<readonly PinnedRuns[]> {
    return readPinned(this.#database, tenant, most)
  }

  async document(tenant: TenantId, table: string, key: string): Promise<Json | null> {
    const body = await this.#bodies.ask([tenant, table, key])
    return body === null ? null : (JSON.parse(body) as Json)
  }

  async #bodiesOf(names: readonly DocumentName[]): Promise<readonly (string | null)[]> {
    const columns = [names.map(([tenant]) => tenant), names.map(([, table]) => table), names.map(([, , key]) => key)]
    const bodies: (string | null)[] = names.map(() => null)
    for (const { place, body } of await this.#database.query<{ place: number; body: string }>(DOCUMENT, columns))
      bodies[place - 1] = body
    return bodies
  }

  async documents({ tenant, table, after, limit }: DocumentQuery): Promise<readonly Document[]> {
    const rows = await this.#database.query<{ key: string; body: string }>(DOCUMENTS, [tenant, table, after, limit])
    return rows.map(({ key, body }) => ({ key, value: JSON.parse(body) as Json }))
  }

  tasks(query: TaskQuery): Promise<readonly TaskSummary[]> {
    return readTasks(this.#database, query)
  }

  task(tenant: TenantId, id: TaskId): Promise<TaskSummary | null> {
    return readTask(this.#database, tenant, id)
  }

  taskCounts(tenant: TenantId, addresses: readonly string[] | null, most: number): Promise<TaskCounts> {
    return countTasks(this.#database, tenant, addresses, most)
  }

  inboxGlance(query: GlanceQuery): Promise<InboxGlance> {
    return glanceAt(this.#database, query)
  }

  openTasks(tenant: TenantId, now: Instant): Promise<readonly OpenTasks[]> {
    return countOpen(this.#database, tenant, now)
  }

  sessions(query: SessionQuery): Promise<readonly SessionSummary[]> {
    return readSessions(this.#database, query)
  }

  session(tenant: TenantId, id: SessionId): Promise<SessionSummary | null> {
    return readSession(this.#database, tenant, id)
  }

  forks(tenant: TenantId, id: SessionId): Promise<readonly SessionSummary[]> {
    return readForks(this.#database, tenant, id)
  }

  sessionRuns(query: SessionRunQuery): Promise<readonly RunSummary[]> {
    return this.runs({ ...query, status: null, handler: null })
  }

  modelCalls(query: ModelCallQuery): Promise<readonly ModelCallFact[]> {
    return readModelCalls(this.#database, query)
  }
}
