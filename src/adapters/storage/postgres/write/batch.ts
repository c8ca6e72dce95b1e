/**
 * Converts a batch of appends into the lists of rows that the append statement takes.
 *
 * Owns which rows an append becomes. Never talks to the database.
 */
import { valueAt } from '#adapters/storage/event-values.ts'
import { keyOf, kindOf, toUuid } from '#adapters/storage/postgres/rows.ts'
import { requestersText } from '#model/access/requester.ts'
import type { Event } from '#model/event/event.ts'
import type { Instant } from '#model/kernel/ids.ts'
import type { Append, NewStream, StreamWrite, TaskRow } from '#ports/ledger.ts'
import { storedLane } from './lanes.ts'
import type { BatchRows } from './lists.ts'

/** The paths of waits for events of a type, as far as this process knows; null: it knows of no wait for them. */
export type KnownPaths = (type: string) => Iterable<string> | null

export interface Flattening {
  readonly paths: KnownPaths
  /** Which clock defines "due at once": the append's own instant, or the database's clock (null). */
  readonly clock: 'database' | 'caller'
}

export const flatten = (batch: readonly Append[], { paths, clock }: Flattening): BatchRows => {
  const rows: BatchRows = {
    guard: [],
    fact: [],
    creation: [],
    occurrence: [],
    suppression: [],
    known_path: [],
    carried: [],
    signal: [],
    opening: [],
    closing: [],
    task: [],
    task_address: [],
    document: [],
  }
  const emitted = emittedBy(batch, paths)
  for (const [type, looked] of emitted) for (const path of looked ?? []) rows.known_path.push({ type, path })
  for (const [append, one] of batch.entries()) {
    const due = clock === 'database' ? null : instantOf(one)
    const firstOrd = rows.occurrence.length + 1
    const context = { append, due, firstOrd, emitted, newsless: isNewsless(one) }
    addEvents(rows, one, context)
    for (const write of one.writes) addWrite(rows, one, write, context)
    for (const run of one.signals) rows.signal.push({ append, stream: toUuid(run), due })
    addDocuments(rows, one, append)
  }
  return rows
}

type Emitted = ReadonlyMap<string, ReadonlySet<string> | null>

/**
 * The types of the batch's events, each with the paths of possible waits: known ones, and those of waits in this batch. The empty path
 * is for waits on the type alone. Null: no wait is known, and the statement reports if that is wrong.
 */
const emittedBy = (batch: readonly Append[], paths: KnownPaths): Emitted => {
  const emitted = new Map<string, Set<string> | null>()
  for (const { events } of batch) for (const { event } of events) emitted.set(event.type, null)
  if (emitted.size === 0) return emitted
  for (const type of emitted.keys()) {
    const known = paths(type)
    if (known !== null) emitted.set(type, new Set(['', ...known]))
  }
  for (const { writes } of batch) {
    for (const { opensWaits } of writes) {
      for (const { type, path } of opensWaits) {
        if (emitted.has(type)) emitted.set(type, (emitted.get(type) ?? new Set([''])).add(path))
      }
    }
  }
  return emitted
}

/** The append's own instant; 0 for an append that records nothing. The time of an event is its sender's and does not count. */
export const instantOf = ({ writes }: Append): Instant => {
  let latest = 0
  for (const { create, facts } of writes) {
    latest = Math.max(latest, create?.createdAt ?? 0)
    for (const { recordedAt } of facts) latest = Math.max(latest, recordedAt)
  }
  return latest
}

interface Context {
  readonly append: number
  readonly due: Instant | null
  readonly firstOrd: number
  readonly emitted: Emitted
  readonly newsless: boolean
}

/** True if the released lease is the only trace of the append. */
const isNewsless = ({ writes, events }: Append): boolean =>
  events.length === 0 && writes.every(({ facts }) => facts.length === 0)

const addEvents = (rows: BatchRows, one: Append, { append, due, emitted }: Context): void => {
  for (const { event, dataHash, suppressed } of one.events) {
    const ord = rows.occurrence.length + 1
    const { tenant, type } = event
    rows.occurrence.push({ append, ord, append_id: one.appendId, data_hash: dataHash, ...eventColumns(event) })
    for (const { trigger, reason, detail } of suppressed)
      rows.suppression.push({ append, ord, trigger_name: trigger, reason, detail: withoutNul(detail) })
    for (const path of emitted.get(type) ?? []) {
      const value = path === '' ? '' : valueAt(event.data, path)
      if (value === null) continue
      rows.carried.push({ append, ord, tenant, type, path, value, value_key: keyOf({ type, path, value }), due })
    }
  }
}

const eventColumns = (event: Event) => ({
  tenant: event.tenant,
  source: event.source,
  id: event.id,
  type: event.type,
  subject: event.subject,
  time: event.time,
  correlation: event.correlationId === event.id ? null : event.correlationId,
  causation: event.causationId,
  traceparent: event.traceparent,
  hops: event.hops,
  chain: JSON.stringify(event.chain),
  data: JSON.stringify(event.data),
  requesters: requestersText(event),
})

const addWrite = (rows: BatchRows, one: Append, write: StreamWrite, context: Context): void => {
  const { append } = context
  const stream = toUuid(write.stream)
  const epoch = write.create === null ? write.epoch : firstEpoch(write.create)
  if (write.create === null) rows.guard.push(guardOf(write, context))
  else rows.creation.push(creationOf(one, write, write.create, context))
  for (const [i, { type, recordedAt, body, hash }] of write.facts.entries()) {
    const seq = write.expectedVersion + i
    rows.fact.push({ append, stream, seq, append_id: one.appendId, epoch, type, recorded_at: recordedAt, body, hash })
  }
  if (write.task !== undefined) addTask(rows, append, stream, write.task)
  for (const step of write.closesWaits) rows.closing.push({ append, stream, step })
  for (const wait of write.opensWaits) {
    const is_crossed = context.emitted.has(wait.type)
    const new_tenant = write.create?.tenant ?? null
    rows.opening.push({ append, stream, new_tenant, ...wait, value_key: keyOf(wait), is_crossed })
  }
}

const firstEpoch = ({ lease }: NewStream): number => (lease === null ? 0 : 1)

const guardOf = (write: StreamWrite, { append, due, newsless }: Context): BatchRows['guard'][number] => ({
  append,
  stream: toUuid(write.stream),
  expected: write.expectedVersion,
  fence: write.epoch,
  added: write.facts.length,
  to_head: write.headHash,
  to_status: write.status,
  to_wake_at: write.wakeAt,
  release: write.release,
  seen_signal: write.seenSignal,
  due,
  newsless,
})

const creationOf = (
  one: Append,
  write: StreamWrite,
  create: NewStream,
  context: Context,
): BatchRows['creation'][number] => ({
  append: context.append,
  id: toUuid(write.stream),
  kind: kindOf(write.stream),
  tenant: create.tenant,
  handler: create.handler,
  system_hash: create.systemHash,
  session: create.session === null ? null : toUuid(create.session),
  parent: create.parent === null ? null : toUuid(create.parent),
  event_ord: create.event === null ? null : context.firstOrd + create.event,
  sequence: create.sequence ?? null,
  last_ord: one.events.length === 0 ? null : context.firstOrd + one.events.length - 1,
  version: write.facts.length,
  epoch: firstEpoch(create),
  head_hash: write.headHash,
  status: write.status,
  wake_at: write.wakeAt,
  lease: write.release ? null : create.lease,
  created_at: create.createdAt,
  lane: storedLane(create),
  due: context.due,
})

/** Postgres text cannot contain NUL. Only for copies that people read; the fact has the original text. */
const withoutNul = (text: string): string => text.replaceAll('\0', '\ufffd')

/** Every open task is in this inbox too. */
export const EVERYBODY = '*'
/** Tasks without a deadline come last. */
export const NEVER = Number.MAX_SAFE_INTEGER

const addTask = (rows: BatchRows, append: number, id: string, task: TaskRow): void => {
  const { tenant, step, status, type, title, priority } = task
  rows.task.push({
    ...{ append, id, tenant, run: toUuid(task.run), step, status, is_open: task.isOpen, type, priority },
    title: withoutNul(title),
    addresses: JSON.stringify(task.addresses),
    claimed_by: task.claimedBy,
    deadline: task.deadlineAt,
    created_at: task.createdAt,
    updated_at: task.updatedAt,
    put_off: JSON.stringify(task.putOff),
    summary: JSON.stringify(task.summary),
  })
  const deadline = task.deadlineAt ?? NEVER
  const addresses = task.isOpen ? new Set([EVERYBODY, ...task.addresses]) : []
  for (const address of addresses) rows.task_address.push({ append, task: id, address, tenant, status, deadline })
}

/** The last write of a document within an append counts. */
const addDocuments = (rows: BatchRows, { documents }: Append, append: number): void => {
  const last = new Map(documents.map((one) => [JSON.stringify([one.tenant, one.table, one.key]), one]))
  for (const { tenant, table, key, value } of last.values()) {
    rows.document.push({ append, tenant, table_name: table, key, body: value === null ? null : JSON.stringify(value) })
  }
}
