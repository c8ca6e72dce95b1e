/** The Reader on a memory store: scans where a database would use an index, because it serves only tests and short demos. */
import { isModelCall } from '#adapters/storage/migrations/0011-model-calls.ts'
import type { StoredEvent } from '#model/event/event.ts'
import {
  type Instant,
  isRunId,
  isSessionId,
  type RunId,
  type SessionId,
  type TaskId,
  type TenantId,
  type WorkerId,
} from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { type NewestCounts, newestCounts } from '#model/run/newest-counts.ts'
import { OPEN_STATUSES, RUN_STATUSES, type RunStatus } from '#model/run/status.ts'
import type { TaskCounts } from '#model/task/counts.ts'
import type { InboxGlance } from '#model/task/inbox-view.ts'
import { type PinnedRuns, pinnedRuns } from '#model/worker/pinned-runs.ts'
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
import { documentKey, type MemoryStore } from './store.ts'
import type { MemoryStream } from './stream.ts'

const MOST_OF_AN_ID = 10

export class MemoryReader implements Reader {
  readonly #store: MemoryStore

  constructor(store: MemoryStore) {
    this.#store = store
  }

  async runs(query: RunQuery): Promise<readonly RunSummary[]> {
    const page: RunSummary[] = []
    const streams = this.#store.byCreation
    const cursor = query.before === null ? streams.length : (this.#store.streams.get(query.before)?.key ?? 0)
    for (let i = cursor - 1; i >= 0 && page.length < query.limit; i--) {
      const stream = streams[i] as MemoryStream
      if (isWanted(stream, query)) page.push(toSummary(stream))
    }
    return page
  }

  async run(tenant: TenantId, id: RunId): Promise<RunSummary | null> {
    const stream = this.#find(tenant, id)
    return stream === undefined ? null : toSummary(stream)
  }

  async runsEndingWith(tenant: TenantId, digits: string): Promise<readonly RunId[]> {
    return this.#runsOf(tenant)
      .filter((stream) => stream.id.endsWith(digits.toLowerCase()))
      .slice(0, 2)
      .map((stream) => stream.id as RunId)
  }

  async children(tenant: TenantId, id: RunId): Promise<readonly RunSummary[]> {
    return (this.#store.children.get(id) ?? [])
      .filter((child) => child.tenant === tenant && isRunId(child.id))
      .map(toSummary)
  }

  async facts(
    tenant: TenantId,
    id: RunId | SessionId | TaskId,
    page: { readonly after: number; readonly limit: number },
  ): Promise<readonly SealedFact[]> {
    return this.#find(tenant, id)?.facts.slice(page.after, page.after + page.limit) ?? []
  }

  async counts(tenant: TenantId, only?: string): Promise<ReadonlyMap<RunStatus, number>> {
    const counts = new Map<RunStatus, number>()
    for (const { status, handler } of this.#runsOf(tenant))
      if (only === undefined || handler === only) counts.set(status, (counts.get(status) ?? 0) + 1)
    return counts
  }

  async newestCounts(tenant: TenantId, most: number): Promise<NewestCounts> {
    const runs = this.#runsOf(tenant).map(({ handler, status, lease }) => ({ handler, status, lease, count: 1 }))
    const newest = RUN_STATUSES.flatMap((wanted) =>
      runs.filter(({ status, lease }) => status === wanted && lease === null).slice(-most),
    )
    const held = runs.filter(({ lease }) => lease !== null)
    return newestCounts(newest, held, most)
  }

  async events(query: {
    readonly tenant: TenantId
    readonly type: string | null
    readonly before: number | null
    readonly limit: number
  }): Promise<readonly StoredEvent[]> {
    return this.#store.events.page(query)
  }

  async eventsWithId(tenant: TenantId, id: string): Promise<readonly StoredEvent[]> {
    return this.#store.events.withId(tenant, id).slice(0, MOST_OF_AN_ID)
  }

  async startedBy(tenant: TenantId, event: number, limit: number): Promise<readonly RunSummary[]> {
    return this.#runsOf(tenant)
      .filter((run) => run.event === event)
      .sort((a, b) => (a.handler < b.handler ? -1 : 1))
      .slice(0, limit)
      .map(toSummary)
  }

  async suppressed(tenant: TenantId, event: number): Promise<readonly Suppression[]> {
    const row = this.#store.events.bySequence(event)
    return row?.tenant === tenant ? row.suppressed.map((one) => ({ ...one })) : []
  }

  async workers(query: { readonly after: WorkerId | null; readonly limit: number }): Promise<readonly WorkerSummary[]> {
    const { after, limit } = query
    return [...this.#store.workers]
      .filter(([id]) => after === null || id > after)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .slice(0, limit)
      .map(([id, { beatAt, info }]) => ({ id, beatAt, info, leases: this.#store.leasedBy(id).length }))
  }

  async heldBy(tenant: TenantId, worker: WorkerId, limit: number): Promise<readonly RunSummary[]> {
    return this.#store
      .leasedBy(worker)
      .filter((stream) => stream.tenant === tenant && isRunId(stream.id))
      .sort((a, b) => a.key - b.key)
      .slice(0, limit)
      .map(toSummary)
  }

  async due(now: Instant, most: number): Promise<readonly DueRuns[]> {
    const instantOf = ({ wakeAt }: MemoryStream): Instant => wakeAt ?? Number.POSITIVE_INFINITY
    const due = this.#store.byCreation
      .filter((stream) => isRunId(stream.id) && stream.lease === null && instantOf(stream) <= now)
      .sort((a, b) => instantOf(a) - instantOf(b))
      .slice(0, most)
    const lines = new Map<string, DueRuns>()
    for (const stream of due) {
      const { handler, systemHash: version } = stream
      const line = `${handler}\n${version}`
      const { since = instantOf(stream), count = 0 } = lines.get(line) ?? {}
      lines.set(line, { handler, version, since, count: count + 1 })
    }
    return [...lines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line)
  }

  async pinned(tenant: TenantId, most: number): Promise<readonly PinnedRuns[]> {
    const open = this.#runsOf(tenant).filter(({ status }) => OPEN_STATUSES.includes(status))
    const count = (runs: readonly MemoryStream[], status: RunStatus | null) =>
      runs.map(({ systemHash: hash }) => ({ hash, status, count: 1 }))
    const isHeld = ({ lease }: MemoryStream): boolean => lease !== null
    const parked = OPEN_STATUSES.flatMap((status) =>
      count(open.filter((run) => run.status === status && !isHeld(run)).slice(-most), status),
    )
    return pinnedRuns([...parked, ...count(open.filter(isHeld), null)], most)
  }

  async document(tenant: TenantId, table: string, key: string): Promise<Json | null> {
    const text = this.#store.documents.get(documentKey(tenant, table, key))
    return text === undefined ? null : (JSON.parse(text) as Json)
  }

  async documents({ tenant, table, after, limit }: DocumentQuery): Promise<readonly Document[]> {
    const prefix = documentKey(tenant, table, '')
    return [...this.#store.documents]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, text]) => ({ key: name.slice(prefix.length), value: JSON.parse(text) as Json }))
      .filter(({ key }) => after === null || key > after)
      .sort((a, b) => (a.key < b.key ? -1 : 1))
      .slice(0, limit)
  }

  async tasks(query: TaskQuery): Promise<readonly TaskSummary[]> {
    return this.#store.tasks.page(query)
  }

  async task(tenant: TenantId, id: TaskId): Promise<TaskSummary | null> {
    return this.#store.tasks.find(tenant, id)
  }

  async taskCounts(tenant: TenantId, addresses: readonly string[] | null, most: number): Promise<TaskCounts> {
    return this.#store.tasks.counts(tenant, addresses, most)
  }

  async inboxGlance(query: GlanceQuery): Promise<InboxGlance> {
    return this.#store.tasks.glance(query)
  }

  async openTasks(tenant: TenantId, now: Instant): Promise<readonly OpenTasks[]> {
    return this.#store.tasks.open(tenant, now)
  }

  async sessions({ tenant, before, limit }: SessionQuery): Promise<readonly SessionSummary[]> {
    const cursor = before === null ? Number.MAX_SAFE_INTEGER : (this.#store.streams.get(before)?.key ?? 0)
    return this.#sessionsOf(tenant)
      .filter(({ key }) => key < cursor)
      .reverse()
      .slice(0, limit)
      .map(toSession)
  }

  async session(tenant: TenantId, id: SessionId): Promise<SessionSummary | null> {
    const stream = this.#find(tenant, id)
    return stream === undefined ? null : toSession(stream)
  }

  async forks(tenant: TenantId, id: SessionId): Promise<readonly SessionSummary[]> {
    return this.#sessionsOf(tenant)
      .filter(({ session }) => session === id)
      .map(toSession)
  }

  sessionRuns(query: SessionRunQuery): Promise<readonly RunSummary[]> {
    return this.runs({ ...query, status: null, handler: null })
  }

  async modelCalls({ tenant, from, to, after, limit }: ModelCallQuery): Promise<readonly ModelCallFact[]> {
    const all = this.#runsOf(tenant).flatMap(({ id, handler, facts }) =>
      facts.flatMap((fact, seq) => {
        const isWithin = fact.recordedAt >= from && fact.recordedAt < to
        return isWithin && isModelCall(fact) ? [{ run: id as RunId, seq, handler, fact }] : []
      }),
    )
    all.sort((a, b) => a.fact.recordedAt - b.fact.recordedAt)
    const start = after === null ? 0 : all.findIndex(({ run, seq }) => run === after.run && seq === after.seq) + 1
    return all.slice(start, start + limit)
  }

  #sessionsOf(tenant: TenantId): MemoryStream[] {
    return this.#store.byCreation.filter((stream) => stream.tenant === tenant && isSessionId(stream.id))
  }

  #find(tenant: TenantId, id: RunId | SessionId | TaskId): MemoryStream | undefined {
    const stream = this.#store.streams.get(id)
    return stream?.tenant === tenant ? stream : undefined
  }

  #runsOf(tenant: TenantId): readonly MemoryStream[] {
    return this.#store.byCreation.filter((stream) => stream.tenant === tenant && isRunId(stream.id))
  }
}

const isWanted = (stream: MemoryStream, { tenant, status, handler, session = null }: RunQuery): boolean =>
  isRunId(stream.id) &&
  stream.tenant === tenant &&
  (status === null || stream.status === status) &&
  (handler === null || stream.handler === handler) &&
  (session === null || stream.session === session)

const toSession = (stream: MemoryStream): SessionSummary => ({
  id: stream.id as SessionId,
  base: stream.session,
  version: stream.facts.length,
  createdAt: stream.createdAt,
})

const toSummary = (stream: MemoryStream): RunSummary => ({
  id: stream.id as RunId,
  handler: stream.handler,
  status: stream.status,
  session: stream.session,
  parent: stream.parent,
  event: stream.event,
  version: stream.facts.length,
  wakeAt: stream.wakeAt,
  leased: stream.lease !== null,
  createdAt: stream.createdAt,
})
