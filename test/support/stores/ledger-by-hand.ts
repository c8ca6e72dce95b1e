/**
 * Writes a ledger row by row, without the adapters, for tests of the checker.
 *
 * Owns how runs, sessions, events and blobs become rows in either dialect. Seals facts with the model's own text, so that the checker's
 * version of it is compared with ours. Never uses a Ledger: a test must be able to write rows that no ledger would.
 */
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'
import { MIGRATIONS } from '#adapters/storage/migrations/list.ts'
import type { GateFact } from '#model/flow/gate-fact.ts'
import { writeFact } from '#model/kernel/fact-codec.ts'
import {
  type ClaimableId,
  type CoordinatorId,
  type Instant,
  type RunId,
  runId,
  type SessionId,
  type StreamId,
  sessionId,
  type TaskId,
  taskId,
} from '#model/kernel/ids.ts'
import { canonical, type Json } from '#model/kernel/json.ts'
import { fold } from '#model/kernel/machine.ts'
import { GENESIS, sealText } from '#model/kernel/seal.ts'
import type { RunFact, RunState } from '#model/run/fact.ts'
import { run, statusOf, wakeAt } from '#model/run/run.ts'
import type { ScheduleFact } from '#model/schedule/fact.ts'
import type { SessionFact } from '#model/session/session.ts'
import type { TaskFact, TaskState } from '#model/task/fact.ts'
import { task } from '#model/task/task.ts'
import { taskWakeAt } from '#model/task/time.ts'
import { inboxRow } from '#model/task/view.ts'

type AnyFact = RunFact | SessionFact | GateFact | ScheduleFact | TaskFact
type Value = string | number | null
type Row = Readonly<Record<string, Value>>

/** The target of the rows. Ids are 32 hex digits here. */
interface Store {
  readonly target: { readonly file: string } | { readonly url: string; readonly schema: string }
  insert(table: string, row: Row): Promise<void>
  sql(text: string): Promise<void>
  close(): Promise<void>
}

export const digest = (text: string): string => hash('sha256', text, 'base64url')

const VERSIONS =
  'create table trihand_migration (version integer primary key, name text, breaking integer, applied_at bigint)'
const ID_COLUMNS: ReadonlySet<string> = new Set([
  'stream.id',
  'stream.session',
  'stream.parent',
  'task.id',
  'task.run',
  'task_address.task',
])
const REFERRING: ReadonlySet<string> = new Set(['fact', 'wait'])

export const onSqlite = async (): Promise<Store> => {
  const folder = mkdtempSync(join(tmpdir(), 'trihand-by-hand-'))
  const file = join(folder, 'ledger.db')
  const db = new DatabaseSync(file)
  db.exec(`pragma journal_mode = wal; pragma synchronous = off; ${VERSIONS}`)
  for (const migration of MIGRATIONS) {
    db.exec(migration.sqlite)
    db.prepare('insert into trihand_migration values (?, ?, ?, 0)').run(
      migration.version,
      migration.name,
      migration.breaking ? 1 : 0,
    )
  }
  const keyOf = (id: Value | undefined): number =>
    db.prepare('select key from stream where id = ?').get(Buffer.from(String(id), 'hex')).key
  const encode = (table: string, column: string, value: Value): Value | Buffer => {
    if (REFERRING.has(table) && column === 'stream') return keyOf(value)
    return ID_COLUMNS.has(`${table}.${column}`) && typeof value === 'string' ? Buffer.from(value, 'hex') : value
  }
  return {
    target: { file },
    async insert(table, row) {
      const columns = Object.keys(row)
      const values = columns.map((column) => encode(table, column, row[column] ?? null))
      db.prepare(`insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`).run(
        ...values,
      )
    },
    async sql(text) {
      db.exec(text)
    },
    async close() {
      db.close()
      rmSync(folder, { recursive: true })
    },
  }
}

export const onPostgres = async (url: string, schema: string): Promise<Store> => {
  const client = new pg.Client({ connectionString: url, options: `-c search_path=${schema}` })
  await client.connect()
  await client.query(VERSIONS)
  for (const migration of MIGRATIONS) {
    await client.query(migration.postgres)
    await client.query('insert into trihand_migration values ($1, $2, $3, 0)', [
      migration.version,
      migration.name,
      migration.breaking ? 1 : 0,
    ])
  }
  return {
    target: { url, schema },
    async insert(table, row) {
      const columns = Object.keys(row)
      const places = columns.map((_, i) => `$${i + 1}`).join(', ')
      // The test gives an event's sequence, so that both dialects get the same rows.
      const given = table === 'event' ? 'overriding system value' : ''
      await client.query(`insert into ${table} (${columns.join(', ')}) ${given} values (${places})`, Object.values(row))
    },
    async sql(text) {
      await client.query(text)
    },
    async close() {
      await client.end()
    },
  }
}

interface StreamOptions {
  readonly tenant?: string
  readonly epoch?: number
}

export interface RunOptions extends StreamOptions {
  readonly id?: RunId
  readonly handler?: string
  readonly parent?: ClaimableId
  readonly event?: number
  /** The holder of the run. */
  readonly lease?: string
  readonly status?: string
  readonly wakeAt?: Instant | null
}

export interface EventOptions {
  readonly id?: string
  readonly tenant?: string
  readonly type?: string
  readonly data?: unknown
  readonly causation?: string
  readonly chain?: readonly string[]
}

const hex = (stream: StreamId): string => stream.slice(4)

export class LedgerByHand {
  readonly #store: Store
  #drawn = 0
  #sequence = 0

  constructor(store: Store) {
    this.#store = store
  }

  get target(): Store['target'] {
    return this.#store.target
  }

  newRun(): RunId {
    return runId(this.#uuid())
  }

  /** Writes a run with these facts. Its row follows the model, unless the test overrides it. */
  async run(facts: readonly RunFact[], options: RunOptions = {}): Promise<RunId> {
    const id = options.id ?? this.newRun()
    const state = fold(run, facts)
    const parked = options.lease === undefined
    await this.#stream(id, facts, {
      kind: 0,
      tenant: options.tenant ?? 'local',
      handler: options.handler ?? 'send-invoice',
      parent: options.parent === undefined ? null : hex(options.parent),
      event: options.event ?? null,
      epoch: options.epoch ?? 1,
      status: options.status ?? statusOf(state, parked),
      wake_at: options.wakeAt === undefined ? wakeAt(state) : options.wakeAt,
      lease: options.lease ?? null,
    })
    for (const row of waitRows(state)) await this.insert('wait', { stream: hex(id), ...row })
    return id
  }

  async session(facts: readonly SessionFact[], options: StreamOptions = {}): Promise<SessionId> {
    const id = sessionId(this.#uuid())
    const rest = { parent: null, event: null, wake_at: null, lease: null }
    await this.#stream(id, facts, {
      kind: 1,
      tenant: options.tenant ?? 'local',
      handler: '',
      epoch: 0,
      status: 'session',
      ...rest,
    })
    return id
  }

  /** Writes a gate or a schedule, with a row for each event type that it listens to. */
  async coordinator(
    id: CoordinatorId,
    facts: readonly (GateFact | ScheduleFact)[],
    options: Pick<RunOptions, 'handler' | 'wakeAt' | 'lease'> & { readonly hears?: readonly string[] } = {},
  ): Promise<void> {
    const { handler = 'send-invoice', wakeAt: wake = null, lease = null, hears = [] } = options
    const rest = { parent: null, event: null, epoch: 1, status: 'waiting' }
    await this.#stream(id, facts, { kind: 2, tenant: 'local', handler, wake_at: wake, lease, ...rest })
    for (const type of hears)
      await this.insert('wait', { stream: hex(id), step: `on ${type}`, type, path: '', value: '' })
  }

  newTask(): TaskId {
    return taskId(this.#uuid())
  }

  /** Writes a task with these facts; its row and its inboxes follow the model. */
  async task(
    facts: readonly TaskFact[],
    options: { readonly id?: TaskId; readonly status?: string } = {},
  ): Promise<TaskId> {
    const { id = this.newTask() } = options
    const state = fold(task, facts)
    const row = inboxRow(state)
    if (row === null) throw new Error('a task begins with task.opened')
    await this.#stream(id, facts, {
      ...{
        kind: 3,
        tenant: 'local',
        handler: 'send-invoice',
        parent: hex(row.run),
        event: null,
        epoch: 1,
        lease: null,
      },
      status: options.status ?? taskStatus(state),
      wake_at: taskWakeAt(state),
    })
    const addresses = [
      ...row.asked.users.map((user) => `user:${user}`),
      ...row.asked.groups.map((name) => `group:${name}`),
    ]
    const texts = { addresses: JSON.stringify(addresses), put_off: '{}', summary: '{}' }
    const times = { deadline: row.deadlineAt, created_at: row.openedAt, updated_at: row.openedAt }
    const { step, status, type, title, priority, claimedBy: claimed_by } = row
    const about = { tenant: 'local', step, status, type, title, priority, claimed_by, is_open: row.isOpen ? 1 : 0 }
    await this.insert('task', { id: hex(id), run: hex(row.run), ...about, ...texts, ...times })
    const inboxes = row.isOpen ? ['*', ...addresses] : []
    for (const address of inboxes)
      await this.insert('task_address', {
        task: hex(id),
        address,
        tenant: 'local',
        status,
        deadline: row.deadlineAt ?? FOR_EVER,
      })
    return id
  }

  /** Returns the event's sequence. */
  async event(options: EventOptions = {}): Promise<number> {
    const seq = ++this.#sequence
    const {
      id = `event-${seq}`,
      tenant = 'local',
      type = 'order.paid',
      data = { order: 7 },
      causation = null,
      chain = [],
    } = options
    const text = JSON.stringify(data)
    const cause = { correlation: null, causation, traceparent: null, hops: chain.length, chain: JSON.stringify(chain) }
    const content = { data: text, data_hash: digest(canonical(data as Json)), append_id: `append-${seq}` }
    await this.insert('event', {
      seq,
      tenant,
      source: 'test',
      id,
      type,
      subject: null,
      time: 1_000,
      ...cause,
      ...content,
    })
    return seq
  }

  async suppressed(event: number, handler: string): Promise<void> {
    await this.insert('suppressed', { event, trigger_name: handler, reason: 'filter', detail: '' })
  }

  /** Returns its hash. */
  async blob(text: string): Promise<string> {
    await this.insert('blob', { hash: digest(text), body: text })
    return digest(text)
  }

  insert(table: string, row: Row): Promise<void> {
    return this.#store.insert(table, row)
  }

  /** Plants a fault. */
  sql(text: string): Promise<void> {
    return this.#store.sql(text)
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  #uuid(): string {
    return `01900000-0000-7000-8000-${(++this.#drawn).toString(16).padStart(12, '0')}`
  }

  async #stream(id: StreamId, facts: readonly AnyFact[], row: Row): Promise<void> {
    const sealed = seal(id, facts)
    const counters = { base: 0, version: facts.length, signal: 0, recoveries: 0, created_at: 0 }
    const head_hash = sealed.at(-1)?.hash ?? GENESIS
    await this.insert('stream', { id: hex(id), system_hash: 'system-1', session: null, ...counters, head_hash, ...row })
    for (const fact of sealed)
      await this.insert('fact', { stream: hex(id), append_id: 'append', epoch: row['epoch'] ?? 0, ...fact })
  }
}

const FOR_EVER = Number.MAX_SAFE_INTEGER

const taskStatus = (state: TaskState): string => {
  if (state.kind !== 'closed') return 'waiting'
  if (state.end.kind === 'decided') return 'success'
  return state.end.kind === 'expired' ? 'expired' : 'cancelled'
}

interface SealedRow extends Row {
  readonly hash: string
}

const seal = (stream: StreamId, facts: readonly AnyFact[]): readonly SealedRow[] => {
  let previous = GENESIS
  return facts.map((fact, seq) => {
    const { type, recordedAt, body } = writeFact(fact)
    previous = digest(sealText(previous, { stream, seq, type, recordedAt, body }))
    return { seq, type, recorded_at: recordedAt, body, hash: previous }
  })
}

/** The rows of a run's open waits: one per type that is still needed. */
const waitRows = (state: RunState): readonly Row[] => {
  const rows: Row[] = []
  if (state.kind !== 'live') return rows
  for (const [step, open] of state.open.entries()) {
    if (open.kind !== 'waiting') continue
    const { spec, received } = open.wait
    const { path, value } = spec.match ?? { path: '', value: '' }
    const needed = spec.types.filter((type) => spec.mode === 'any' || !received.some((event) => event.type === type))
    for (const type of needed) rows.push({ step, type, path, value })
  }
  return rows
}
