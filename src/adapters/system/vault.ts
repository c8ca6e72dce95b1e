/**
 * A store that encrypts payloads when they are written and decrypts them when they are read: the one place between any ledger and the rest.
 *
 * Owns which calls are translated; payloads.ts defines the payloads. The hash chain covers the plain text, with seals that need a key.
 *
 * vault-1  No payload reaches the store in clear, and every read returns what was written.
 * vault-2  A record with a fact that does not open is broken as a whole (checked-1), an event whose data does not open is broken, and
 *          neither affects another.
 * vault-3  A payload that another process has encrypted with a key that this one lacks is not broken: it is left to processes with that
 *          key, and this process claims no more runs until it is restarted with it.
 */
import type { StoredEvent } from '#model/event/event.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Instant, StreamId, TenantId, WorkerId } from '#model/kernel/ids.ts'
import type { Blobs } from '#ports/blobs.ts'
import type {
  Append,
  BeatRequest,
  ClaimRequest,
  Claims,
  EventQuery,
  Ledger,
  LoadOptions,
  Outcome,
  StreamRecord,
  StreamWrite,
} from '#ports/ledger.ts'
import type { Reader, TaskSummary } from '#ports/reader.ts'
import { brokenRecord } from './checked-ledger.ts'
import { UnknownKey } from './cipher.ts'
import type { Payloads } from './payloads.ts'

/** More streams than a process writes to at the same time. */
const MOST_TENANTS = 20_000

export class VaultLedger implements Ledger {
  readonly #inner: Ledger
  readonly #payloads: Payloads
  /** The tenant of each stream: a write does not contain it, and encryption needs the tenant's key. */
  readonly #tenants = new Map<StreamId, TenantId>()

  readonly #isNamed: (key: string) => Promise<boolean>
  /** The first payload that this process has found without having its key. */
  #lacking: UnknownKey | null = null

  /** `isNamed` returns true if the ledger's record names this key. */
  constructor(inner: Ledger, payloads: Payloads, isNamed: (key: string) => Promise<boolean> = async () => false) {
    this.#inner = inner
    this.#payloads = payloads
    this.#isNamed = isNamed
  }

  async append(batch: readonly Append[]): Promise<readonly Outcome[]> {
    const unknown = new Set<StreamId>()
    for (const { writes } of batch) for (const write of writes) if (this.#meets(write)) unknown.add(write.stream)
    if (unknown.size > 0) for (const one of await this.#inner.load([...unknown], HEADS)) this.#met(one)
    return this.#inner.append(batch.map((append) => this.#hidden(append)))
  }

  async load(streams: readonly StreamId[], options?: LoadOptions): Promise<readonly (StreamRecord | null)[]> {
    const records = await this.#inner.load(streams, options)
    return Promise.all(
      records.map(async (record) => {
        if (record === null) return null
        try {
          return this.#shown(record)
        } catch (error) {
          return brokenRecord(record, await this.#flawOf(error))
        }
      }),
    )
  }

  async events(query: EventQuery): Promise<readonly StoredEvent[]> {
    const { tenant, matching } = query
    const hidden = matching && { matching: matching.map((match) => this.#payloads.hideWait(tenant, match)) }
    const events = await this.#inner.events({ ...query, ...hidden })
    return Promise.all(
      events.map(async (event) => {
        try {
          return this.#payloads.showEvent(event)
        } catch (error) {
          return { ...event, data: null, broken: await this.#flawOf(error) }
        }
      }),
    )
  }

  /** Leaves out what does not open; the engine then loads it separately. */
  async claim(request: ClaimRequest): Promise<Claims> {
    if (this.#lacking !== null) throw this.#lacking
    const given = await this.#inner.claim(request)
    const { claims, records, events } = given
    for (const { stream, tenant } of claims) this.#keep(stream, tenant)
    return {
      ...given,
      ...(records && { records: readable(records, (record) => this.#shown(record)) }),
      ...(events && { events: readable(events, (event) => this.#payloads.showEvent(event)) }),
    }
  }

  beat(request: BeatRequest): Promise<number> {
    return this.#inner.beat(request)
  }

  retire(worker: WorkerId, now: Instant): Promise<void> {
    return this.#inner.retire(worker, now)
  }

  close(): Promise<void> {
    return this.#inner.close()
  }

  /** The reason why a payload does not open. Throws if only this process cannot open it (vault-3). */
  async #flawOf(error: unknown): Promise<string> {
    if (!(error instanceof TrihandError)) throw error
    if (error instanceof UnknownKey && (await this.#isNamed(error.key))) {
      this.#lacking = error
      throw error
    }
    return error.detail
  }

  /** True if the tenant of this stream must be loaded. */
  #meets({ stream, create, facts, opensWaits, task }: StreamWrite): boolean {
    const tenant = create?.tenant ?? task?.tenant
    if (tenant !== undefined) this.#keep(stream, tenant)
    return facts.length + opensWaits.length > 0 && !this.#tenants.has(stream)
  }

  #met(record: StreamRecord | null): void {
    if (record !== null) this.#keep(record.stream, record.tenant)
  }

  #keep(stream: StreamId, tenant: TenantId): void {
    if (this.#tenants.size >= MOST_TENANTS) this.#tenants.delete(this.#tenants.keys().next().value as StreamId)
    this.#tenants.set(stream, tenant)
  }

  #hidden(append: Append): Append {
    const { writes, events, documents } = append
    return {
      ...append,
      writes: writes.map((write) => this.#hiddenWrite(write)),
      events: events.map((event) => this.#payloads.hideEvent(event)),
      documents: documents.map((document) => this.#payloads.hideDocument(document)),
    }
  }

  /** A write to a missing stream is passed on and gets the usual conflict: nothing of it is written. */
  #hiddenWrite(write: StreamWrite): StreamWrite {
    const { stream, expectedVersion, facts, opensWaits, task } = write
    const tenant = this.#tenants.get(stream) ?? ''
    const payloads = this.#payloads
    return {
      ...write,
      facts: facts.map((fact, i) => payloads.hideFact(tenant, stream, expectedVersion + i, fact)),
      opensWaits: opensWaits.map((wait) => payloads.hideWait(tenant, wait)),
      ...(task && { task: payloads.hideTask(stream, task) }),
    }
  }

  #shown(record: StreamRecord): StreamRecord {
    this.#met(record)
    const { stream, tenant, version, facts } = record
    const first = version - facts.length
    return { ...record, facts: facts.map((fact, i) => this.#payloads.showFact(tenant, stream, first + i, fact)) }
  }
}

/** Returns the items that open. */
const readable = <Item>(items: readonly Item[], show: (item: Item) => Item): readonly Item[] =>
  items.flatMap((item) => {
    try {
      return [show(item)]
    } catch (error) {
      if (!(error instanceof TrihandError)) throw error
      return []
    }
  })

const HEADS: LoadOptions = { after: Number.MAX_SAFE_INTEGER }

export const vaultReader = (reader: Reader, payloads: Payloads): Reader => {
  const task = (row: TaskSummary): TaskSummary => payloads.showTask(row.id, row)
  const event = (stored: StoredEvent): StoredEvent => payloads.showEvent(stored)
  return {
    runs: (query) => reader.runs(query),
    run: (...asked) => reader.run(...asked),
    runsEndingWith: (...asked) => reader.runsEndingWith(...asked),
    children: (...asked) => reader.children(...asked),
    facts: async (tenant, id, page) =>
      (await reader.facts(tenant, id, page)).map((fact, i) => payloads.showFact(tenant, id, page.after + i, fact)),
    counts: (...asked) => reader.counts(...asked),
    newestCounts: (...asked) => reader.newestCounts(...asked),
    events: async (query) => (await reader.events(query)).map(event),
    eventsWithId: async (...asked) => (await reader.eventsWithId(...asked)).map(event),
    startedBy: (...asked) => reader.startedBy(...asked),
    suppressed: async (tenant, sequence) =>
      (await reader.suppressed(tenant, sequence)).map((one) => payloads.showSuppression(tenant, one)),
    document: async (tenant, table, key) => {
      const value = await reader.document(tenant, table, key)
      return value === null ? null : payloads.showDocument(tenant, table, key, value)
    },
    documents: async (query) =>
      (await reader.documents(query)).map(({ key, value }) => ({
        key,
        value: payloads.showDocument(query.tenant, query.table, key, value),
      })),
    workers: (query) => reader.workers(query),
    heldBy: (...asked) => reader.heldBy(...asked),
    due: (...asked) => reader.due(...asked),
    pinned: (...asked) => reader.pinned(...asked),
    tasks: async (query) => (await reader.tasks(query)).map(task),
    task: async (...asked) => {
      const row = await reader.task(...asked)
      return row === null ? null : task(row)
    },
    taskCounts: (...asked) => reader.taskCounts(...asked),
    inboxGlance: (query) => reader.inboxGlance(query),
    openTasks: (...asked) => reader.openTasks(...asked),
    sessions: (query) => reader.sessions(query),
    session: (...asked) => reader.session(...asked),
    forks: (...asked) => reader.forks(...asked),
    sessionRuns: (query) => reader.sessionRuns(query),
    modelCalls: async (query) =>
      (await reader.modelCalls(query)).map((call) => ({
        ...call,
        fact: payloads.showFact(query.tenant, call.run, call.seq, call.fact),
      })),
  }
}

export const vaultBlobs = (blobs: Blobs, payloads: Payloads): Blobs => ({
  put: (hash, text) => {
    const name = payloads.blobName(hash)
    return blobs.put(name, payloads.hideBlob(name, text))
  },
  get: async (hash) => {
    const name = payloads.blobName(hash)
    const hidden = await blobs.get(name)
    return hidden === null ? null : payloads.showBlob(name, hidden)
  },
})
