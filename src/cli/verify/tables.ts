/**
 * The ledger's tables as typed rows: all queries of the checker, in SQL that both dialects share.
 *
 * Owns the SQL. Streams, their facts, their waits and the events they caused are read in the same order, so that four cursors walk the
 * ledger side by side and nothing has to be kept.
 */
import type { Key, RowOptions, Source } from '#cli/verify/source/source.ts'
import { Opened } from './opened.ts'

const RUN = 0
const SESSION = 1
const COORDINATOR = 2
const TASK = 3

export interface StreamRow {
  readonly key: Key
  readonly hex: string
  readonly kind: number
  readonly tenant: string
  readonly handler: string
  readonly version: number
  readonly epoch: number
  readonly head_hash: string
  readonly status: string
  readonly wake_at: number | null
  /** The worker that holds the run, in the form of the dialect. */
  readonly lease: Key | null
  /** Version and head hash may be those of an earlier fact. */
  readonly lags: number | boolean
}

export interface FactRow {
  readonly stream: Key
  readonly seq: number
  readonly epoch: number
  readonly type: string
  readonly recorded_at: number
  readonly body: string
  readonly hash: string
}

export interface WaitRow {
  readonly stream: Key
  readonly step: string
  readonly type: string
  readonly path: string
  readonly value: string
}

/** A task's inbox row, with the number of inboxes it is in. */
export interface TaskTableRow {
  readonly stream: Key
  readonly run: string
  readonly step: string
  readonly status: string
  readonly is_open: number | boolean
  readonly claimed_by: string | null
  readonly deadline: number | null
  readonly addresses: string
  readonly inboxes: number
}

/** An event whose cause is a run. */
export interface CausedRow {
  readonly stream: Key
  readonly id: string
}

export interface EventRow {
  readonly seq: number
  readonly tenant: string
  readonly source: string
  readonly id: string
  readonly type: string
  readonly hops: number
  readonly chain: string
  readonly data: string
  readonly data_hash: string
}

export interface TriggeredRow {
  readonly hex: string
  readonly event: number
  readonly tenant: string
  readonly event_tenant: string | null
}

/** A trigger that started nothing: `known` is null if its event does not exist, `hex` is a run that was started all the same. */
export interface SuppressedRow {
  readonly event: number
  readonly trigger_name: string
  readonly known: number | null
  readonly hex: string | null
}

export interface FoundFact {
  readonly hex: string
  readonly seq: number
  readonly tenant: string
  readonly type: string
  readonly body: string
}

export interface StreamHead {
  readonly hex: string
  readonly kind: number
  readonly handler: string
  readonly status: string
  readonly parent: string | null
}

/** The present: the store's clock or the latest recorded time, whichever is later (a test's clock may be ahead of the store's). */
export interface Moment {
  readonly now: number
  /** The latest time of any event; senders set it themselves. */
  readonly event_time: number
}

export const isRun = (row: StreamRow): boolean => row.kind === RUN
export const isCoordinator = (row: StreamRow): boolean => row.kind === COORDINATOR
export const isTask = (row: StreamRow): boolean => row.kind === TASK
export const nameOf = (row: StreamRow): string => `${prefixOf(row)}_${row.hex}`

const COORDINATOR_PREFIXES: Readonly<Record<string, string>> = { '81': 'gat', '82': 'sch', '84': 'que' }

/** The version digit of a coordinator's uuid, and the digit after it, give the kind of coordinator. */
const prefixOf = ({ kind, hex }: Pick<StreamRow, 'kind' | 'hex'>): string => {
  if (kind === RUN) return 'run'
  if (kind === SESSION) return 'ses'
  if (kind === TASK) return 'tsk'
  return COORDINATOR_PREFIXES[hex.slice(12, 14)] ?? 'sch'
}

const RUN_ID = /^run_[0-9a-f]{32}$/
const hexOf = (run: string): string => run.slice('run_'.length)

/** Blobs are up to 16 MiB each. */
const BLOB_PAGE = 2

interface Scope {
  readonly tenant: string | null
  readonly now: number | null
  readonly opened: Opened
}

export class Tables {
  readonly #source: Source
  readonly #tenant: string | null
  readonly #now: number | null
  readonly #opened: Opened

  /** `now` replaces the store's clock. */
  constructor(source: Source, scope: Partial<Scope> = {}) {
    this.#source = source
    this.#tenant = scope.tenant ?? null
    this.#now = scope.now ?? null
    this.#opened = scope.opened ?? new Opened(undefined, [])
  }

  migrations(): AsyncIterable<{ readonly version: number; readonly breaking: number | boolean }> {
    return this.#rows('select version, breaking from trihand_migration')
  }

  /** The ledger's record of the keys that it was written with. */
  async keyRecord(): Promise<string | null> {
    const row = await this.#first<{ body: string }>(
      "select d.body from document d where d.table_name = 'trihand.ledger' and d.key = 'keys'",
    )
    return row?.body ?? null
  }

  async moment(): Promise<Moment> {
    const clock = String(this.#now ?? this.#dialect.now)
    const recorded = [maximum('recorded_at', 'fact'), maximum('created_at', 'stream'), maximum('beat_at', 'worker')]
    const sql = `select ${latest(clock, ...recorded)} as now, ${latest('0', maximum('time', 'event'))} as event_time`
    const row = await this.#first<Moment>(sql)
    return row ?? { now: 0, event_time: 0 }
  }

  streams(): AsyncIterable<StreamRow> {
    const { key, hex } = this.#dialect
    return this.#all(`select s.${key} as key, ${hex('s.id')} as hex, s.kind, s.tenant, s.handler, s.version, s.epoch, s.head_hash, s.status,
      s.wake_at, s.lease, s.lease is not null as lags from stream s ${this.#where('s')} order by s.${key}`)
  }

  facts(): AsyncIterable<FactRow> {
    const { key } = this.#dialect
    return this.#all(`select f.stream, f.seq, f.epoch, f.type, f.recorded_at, f.body, f.hash
      from stream s join fact f on f.stream = s.${key} ${this.#where('s')} order by s.${key}, f.seq`)
  }

  waits(): AsyncIterable<WaitRow> {
    const { key } = this.#dialect
    return this.#all(`select w.stream, w.step, w.type, w.path, w.value
      from stream s join wait w on w.stream = s.${key} ${this.#where('s')} order by s.${key}`)
  }

  tasks(): AsyncIterable<TaskTableRow> {
    const { key, hex } = this.#dialect
    return this.#all(`select s.${key} as stream, ${hex('t.run')} as run, t.step, t.status, t.is_open, t.claimed_by, t.deadline, t.addresses,
      (select count(*) from task_address a where a.task = t.id) as inboxes
      from stream s join task t on t.id = s.id ${this.#where('s')} order by s.${key}`)
  }

  caused(): AsyncIterable<CausedRow> {
    const { key } = this.#dialect
    return this.#all(`select s.${key} as stream, e.id from event e join stream s on s.id = ${this.#causingRun()}
      ${this.#where('e', "substr(e.causation, 1, 4) = 'run_'")} order by s.${key}`)
  }

  /** Events whose cause is a run that does not exist. */
  causeless(): AsyncIterable<{ readonly seq: number; readonly causation: string }> {
    return this.#all(`select e.seq, e.causation from event e left join stream s on s.id = ${this.#causingRun()}
      ${this.#where('e', "substr(e.causation, 1, 4) = 'run_'", 'length(e.causation) = 36', 's.id is null')}`)
  }

  /** Facts and waits of streams that do not exist, which the cursors above skip. */
  strays(table: 'fact' | 'wait'): AsyncIterable<{ readonly stream: Key; readonly count: number }> {
    return this.#rows(`select x.stream, count(*) as count from ${table} x
      where not exists (select 1 from stream s where s.${this.#dialect.key} = x.stream) group by x.stream`)
  }

  /** Model replies that are not listed, and listed facts that are not model replies. */
  async *modelCallFaults(): AsyncIterable<{ readonly hex: string | null; readonly seq: number }> {
    const { hex, listsModelCallsSince: since } = this.#dialect
    const newest = await this.#first<{ version: number }>('select max(version) as version from trihand_migration')
    if (since === null || newest === null || newest.version < since) return
    const isReply = `f.type = 'step.completed' and (instr(f.body, '"modelUsed":"') > 0 or instr(f.body, '"agent/model[') > 0)`
    const same = 'f.recorded_at = m.recorded_at and f.stream = m.stream and f.seq = m.seq'
    yield* this.#rows<{ hex: string | null; seq: number }>(`select ${hex('s.id')} as hex, x.seq from (
        select f.stream, f.seq from fact f where ${isReply} and not exists (select 1 from model_call m where ${same})
        union all select m.stream, m.seq from model_call m where not exists (select 1 from fact f where ${same} and ${isReply})
      ) as x left join stream s on s.key = x.stream order by x.stream, x.seq`)
  }

  async *events(): AsyncGenerator<EventRow> {
    const rows = this.#all<EventRow>(
      `select e.seq, e.tenant, e.source, e.id, e.type, e.hops, e.chain, e.data, e.data_hash from event e ${this.#where('e')} order by e.seq`,
    )
    for await (const row of rows) yield this.#opened.isEncrypted ? { ...row, data: this.#opened.event(row) } : row
  }

  /** Every run that an event started, with the tenant of that event: null if the event does not exist. */
  triggered(): AsyncIterable<TriggeredRow> {
    return this.#all(`select ${this.#dialect.hex('s.id')} as hex, s.event, s.tenant, e.tenant as event_tenant
      from stream s left join event e on e.seq = s.event ${this.#where('s', 's.event is not null')}`)
  }

  doubled(): AsyncIterable<{ readonly event: number; readonly handler: string; readonly count: number }> {
    return this.#all(`select s.event, s.handler, count(*) as count from stream s ${this.#where('s', 's.event is not null')}
      group by s.event, s.handler having count(*) > 1`)
  }

  suppressed(): AsyncIterable<SuppressedRow> {
    return this.#all(`select x.event, x.trigger_name, e.seq as known, ${this.#dialect.hex('s.id')} as hex
      from suppressed x left join event e on e.seq = x.event left join stream s on s.event = x.event and s.handler = x.trigger_name
      ${this.#where('e')}`)
  }

  /** The ids among these that no event of the tenant has. */
  missingEvents(tenant: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#missing('exists (select 1 from event e where e.id = item.value and e.tenant = $2)', ids, [tenant])
  }

  async eventTypes(sequences: readonly number[]): Promise<ReadonlyMap<number, Pick<EventRow, 'type' | 'tenant'>>> {
    const sql = `select e.seq, e.type, e.tenant from ${this.#dialect.list('$1')} as item join event e on e.seq = cast(item.value as bigint)`
    const events = new Map<number, Pick<EventRow, 'type' | 'tenant'>>()
    const rows = this.#rows<EventRow>(sql, { values: [JSON.stringify(sequences.map(String))] })
    for await (const { seq, type, tenant } of rows) events.set(seq, { type, tenant })
    return events
  }

  missingBlobs(hashes: readonly string[]): Promise<ReadonlySet<string>> {
    return this.#missing('exists (select 1 from blob b where b.hash = item.value)', hashes, [])
  }

  blobs(): AsyncIterable<{ readonly hash: string; readonly body: string }> {
    return this.#rows('select hash, body from blob', { page: BLOB_PAGE })
  }

  /** The runs and tasks among these that exist. */
  async heads(runs: readonly string[]): Promise<ReadonlyMap<string, StreamHead>> {
    const { hex, id, list } = this.#dialect
    const rows = this.#rows<StreamHead>(
      `select ${hex('s.id')} as hex, s.kind, s.handler, s.status, ${hex('s.parent')} as parent
        from ${list('$1')} as item join stream s on s.id = ${id('item.value')} where s.kind in (${RUN}, ${TASK})`,
      { values: [JSON.stringify(runs.map(hexOf))] },
    )
    const heads = new Map<string, StreamHead>()
    for await (const row of rows) heads.set(`${prefixOf(row)}_${row.hex}`, row)
    return heads
  }

  /** Facts by the run's id and their number in its stream, under `<run>/<seq>`. */
  async factsAt(
    places: readonly { readonly run: string; readonly seq: number }[],
  ): Promise<ReadonlyMap<string, FoundFact>> {
    const { hex, id, key, list } = this.#dialect
    // An invalid place is never passed to the store, which would refuse it.
    const known = places.filter(({ run, seq }) => RUN_ID.test(run) && Number.isSafeInteger(seq))
    const rows = this.#rows<FoundFact>(
      `select ${hex('s.id')} as hex, f.seq, s.tenant, f.type, f.body from ${list('$1')} as item
        join stream s on s.id = ${id('substr(item.value, 1, 32)')}
        join fact f on f.stream = s.${key} and f.seq = cast(substr(item.value, 34) as bigint)`,
      { values: [JSON.stringify(known.map(({ run, seq }) => `${hexOf(run)}/${seq}`))] },
    )
    const facts = new Map<string, FoundFact>()
    for await (const row of rows) {
      const [run, { tenant, seq }] = [`run_${row.hex}`, row]
      facts.set(`${run}/${seq}`, { ...row, body: this.#opened.fact(tenant, run, seq, row.body) })
    }
    return facts
  }

  /** Every run that has a coordinator as its parent, and the coordinator. */
  async *coordinatorRuns(): AsyncGenerator<{ readonly run: string; readonly coordinator: string }> {
    const { hex } = this.#dialect
    const rows = this.#all<{
      run: string
      coordinator: string
    }>(`select ${hex('s.id')} as run, ${hex('p.id')} as coordinator
      from stream s join stream p on p.id = s.parent ${this.#where('s', `p.kind = ${COORDINATOR}`, `s.kind = ${RUN}`)}`)
    for await (const { run, coordinator } of rows)
      yield { run, coordinator: `${prefixOf({ kind: COORDINATOR, hex: coordinator })}_${coordinator}` }
  }

  /** The sequences of the events with this source and id: none, one, or one per tenant. */
  async sequences(source: string, id: string): Promise<readonly number[]> {
    const found: number[] = []
    const sql = 'select e.seq from event e where e.source = $1 and e.id = $2'
    for await (const row of this.#rows<{ seq: number }>(sql, { values: [source, id] })) found.push(row.seq)
    return found
  }

  get #dialect() {
    return this.#source.dialect
  }

  #causingRun(): string {
    return this.#dialect.id('substr(e.causation, 5)')
  }

  /** The conditions, with the tenant's if there is one. The tenant is always $1. */
  #where(alias: string, ...conditions: readonly string[]): string {
    const all = this.#tenant === null ? conditions : [...conditions, `${alias}.tenant = $1`]
    return all.length === 0 ? '' : `where ${all.join(' and ')}`
  }

  /** The only place where a driver's row gets a type: its columns are those of the query. */
  #rows<Row>(sql: string, options: RowOptions = {}): AsyncIterable<Row> {
    return this.#source.rows(sql, options) as AsyncIterable<unknown> as AsyncIterable<Row>
  }

  #all<Row>(sql: string): AsyncIterable<Row> {
    return this.#rows<Row>(sql, this.#tenant === null ? {} : { values: [this.#tenant] })
  }

  async #first<Row>(sql: string): Promise<Row | null> {
    for await (const row of this.#rows<Row>(sql)) return row
    return null
  }

  async #missing(exists: string, texts: readonly string[], more: readonly string[]): Promise<ReadonlySet<string>> {
    // No store holds a NUL in a text, and one of them refuses a query with it.
    const missing = new Set(texts.filter((text) => text.includes('\0')))
    const values = [JSON.stringify(texts.filter((text) => !missing.has(text))), ...more]
    const sql = `select item.value from ${this.#dialect.list('$1')} as item where not ${exists}`
    for await (const { value } of this.#rows<{ value: string }>(sql, { values })) missing.add(value)
    return missing
  }
}

const maximum = (column: string, table: string): string => `(select max(${column}) from ${table})`

/** The greatest of some instants, any of which may be null. */
const latest = (...instants: readonly string[]): string =>
  `(select max(instant) from (${instants.map((instant) => `select ${instant} as instant`).join(' union all ')}) as instants)`
