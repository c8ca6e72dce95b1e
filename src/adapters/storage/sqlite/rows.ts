/**
 * Converts rows of the tables to values of the port, and back.
 *
 * Owns the notation in the tables: ids are 16 bytes without their prefix, `kind` distinguishes runs, sessions, coordinators and tasks.
 * Never runs a statement.
 */
import { readRequesters } from '#model/access/requester.ts'
import type { StoredEvent } from '#model/event/event.ts'
import {
  type ClaimableId,
  claimableId,
  type Instant,
  isRunId,
  isSessionId,
  isTaskId,
  type RunId,
  runId,
  type SessionId,
  type StreamId,
  sessionId,
  type TenantId,
  type WorkerId,
} from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { SealedFact, StreamRecord } from '#ports/ledger.ts'
import type { Row, Value } from './driver.ts'

export const RUN = 0
export const SESSION = 1
const COORDINATOR = 2
const TASK = 3
const PREFIX_LENGTH = 4

export interface StreamRow {
  readonly key: number
  readonly id: Uint8Array
  readonly kind: number
  readonly tenant: string
  readonly version: number
  readonly epoch: number
  readonly signal: number
  readonly status: RunStatus
  readonly wake_at: Instant | null
  readonly lease: number | null
  readonly recoveries: number
  readonly lane: string
}

export interface RecordRow extends StreamRow {
  readonly handler: string
  readonly system_hash: string
  readonly born_hash: string | null
  readonly session: Uint8Array | null
  readonly parent: Uint8Array | null
  readonly event: number | null
  readonly base: number
  readonly head_hash: string
  readonly created_at: Instant
  readonly worker: WorkerId | null
}

/** A due stream has no lease, so its row is exact. */
export type DueRow = Omit<RecordRow, 'lease' | 'wake_at' | 'worker'> & { readonly wake_at: Instant }

// The order of columns, for statements that return lists.
export const DUE_COLUMNS =
  'key, id, kind, tenant, version, epoch, signal, status, recoveries, lane, handler, system_hash, session, parent, event, base, head_hash, created_at, wake_at, born_hash'
export const FACT_COLUMNS = 'f.type, f.recorded_at, f.body, f.hash'
export const EVENT_COLUMNS =
  'seq, tenant, source, id, type, subject, time, correlation, causation, traceparent, hops, chain, data, requesters'

type DueList = readonly [
  ...[key: number, id: Uint8Array, kind: number, tenant: string, version: number, epoch: number, signal: number],
  ...[status: RunStatus, recoveries: number, lane: string, handler: string, systemHash: string],
  ...[session: Uint8Array | null, parent: Uint8Array | null, event: number | null, base: number],
  ...[headHash: string, createdAt: Instant, wakeAt: Instant, bornHash: string | null],
]
type FactList = readonly [type: string, recordedAt: Instant, body: string, hash: string]
type EventList = readonly [
  ...[seq: number, tenant: string, source: string, id: string, type: string, subject: string | null, time: Instant],
  ...[correlation: string | null, causation: string | null, traceparent: string | null],
  ...[hops: number, chain: string, data: string, requesters: string | null],
]

/** The only place where a driver's row gets a type: the columns are those of the statement that returned it. */
export const rowAs = <Shape>(row: Row): Shape => row as unknown as Shape

/** The same for a row that came as a list. */
const listAs = <Shape>(list: readonly Value[]): Shape => list as unknown as Shape

export const idDigits = (stream: StreamId): string => stream.slice(PREFIX_LENGTH)
export const idBytes = (stream: StreamId): Uint8Array => Buffer.from(idDigits(stream), 'hex')
export const kindOf = (stream: StreamId): number => {
  if (isRunId(stream)) return RUN
  if (isSessionId(stream)) return SESSION
  return isTaskId(stream) ? TASK : COORDINATOR
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
export const toRunId = (bytes: Uint8Array): RunId => runId(hex(bytes))
export const toClaimableId = (bytes: Uint8Array): ClaimableId => claimableId(hex(bytes))
export const toSessionId = (bytes: Uint8Array): SessionId => sessionId(hex(bytes))
const toStreamId = (row: Pick<StreamRow, 'id' | 'kind'>): StreamId =>
  row.kind === SESSION ? toSessionId(row.id) : toClaimableId(row.id)

export const orNull = <Value, Result>(value: Value | null, turn: (value: Value) => Result): Result | null =>
  value === null ? null : turn(value)

export const toFact = (list: readonly Value[]): SealedFact => {
  const [type, recordedAt, body, hash] = listAs<FactList>(list)
  return { type, recordedAt, body, hash }
}

export const toDueRow = (list: readonly Value[]): DueRow => {
  const row = listAs<DueList>(list)
  return {
    key: row[0],
    id: row[1],
    kind: row[2],
    tenant: row[3],
    version: row[4],
    epoch: row[5],
    signal: row[6],
    status: row[7],
    recoveries: row[8],
    lane: row[9],
    handler: row[10],
    system_hash: row[11],
    session: row[12],
    parent: row[13],
    event: row[14],
    base: row[15],
    head_hash: row[16],
    created_at: row[17],
    wake_at: row[18],
    born_hash: row[19],
  }
}

type Leasing = Pick<StreamRecord, 'epoch' | 'wakeAt' | 'lease'>

/** Written out, like all of these: an object made by spreading has a hidden class of its own. */
const recordOf = (
  row: Omit<RecordRow, 'wake_at' | 'lease' | 'worker'>,
  { epoch, wakeAt, lease }: Leasing,
  facts: readonly SealedFact[],
): StreamRecord => ({
  stream: toStreamId(row),
  tenant: row.tenant as TenantId,
  handler: row.handler,
  systemHash: row.system_hash,
  bornHash: row.born_hash,
  session: orNull(row.session, toSessionId),
  parent: orNull(row.parent, toClaimableId),
  event: row.event,
  base: row.base,
  version: row.version,
  epoch,
  signal: row.signal,
  status: row.status,
  wakeAt,
  lease,
  recoveries: row.recoveries,
  headHash: row.head_hash,
  createdAt: row.created_at,
  facts,
})

export const toRecord = (row: RecordRow, facts: readonly SealedFact[]): StreamRecord =>
  recordOf(row, { epoch: row.epoch, wakeAt: row.wake_at, lease: row.worker }, facts)

/** The record of a stream that was just leased to this worker. */
export const toClaimedRecord = (row: DueRow, worker: WorkerId, facts: readonly SealedFact[]): StreamRecord =>
  recordOf(row, { epoch: row.epoch + 1, wakeAt: null, lease: worker }, facts)

export const toEvent = (list: readonly Value[]): StoredEvent => {
  const row = listAs<EventList>(list)
  return {
    sequence: row[0],
    id: row[3],
    tenant: row[1] as TenantId,
    source: row[2],
    type: row[4],
    subject: row[5],
    time: row[6],
    data: JSON.parse(row[12]) as Json,
    correlationId: row[7] ?? row[3],
    causationId: row[8],
    traceparent: row[9],
    hops: row[10],
    chain: JSON.parse(row[11]) as readonly string[],
    ...readRequesters(row[13]),
  }
}
