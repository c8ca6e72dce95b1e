/**
 * Rows of the tables as the values of the port, and back.
 *
 * Owns the spelling in the tables: ids are 16 bytes without their prefix, `kind` tells runs, sessions, clerks and tasks apart. Never runs a statement.
 */
import type { StoredEvent } from '../../model/event.ts'
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
} from '../../model/ids.ts'
import type { Json } from '../../model/json.ts'
import type { RunStatus } from '../../model/status.ts'
import type { SealedFact, StreamRecord } from '../../ports/ledger.ts'
import type { Row } from './driver.ts'

export const RUN = 0
export const SESSION = 1
const CLERK = 2
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

interface RecordRow extends StreamRow {
  readonly handler: string
  readonly system_hash: string
  readonly session: Uint8Array | null
  readonly parent: Uint8Array | null
  readonly event: number | null
  readonly base: number
  readonly head_hash: string
  readonly created_at: Instant
  readonly worker: WorkerId | null
}

interface FactRow {
  readonly type: string
  readonly recorded_at: Instant
  readonly body: string
  readonly hash: string
}

interface EventRow {
  readonly seq: number
  readonly tenant: string
  readonly source: string
  readonly id: string
  readonly type: string
  readonly subject: string | null
  readonly time: Instant
  readonly correlation: string | null
  readonly causation: string | null
  readonly traceparent: string | null
  readonly hops: number
  readonly chain: string
  readonly data: string
}

/** The one place where a driver's row gets a type: the columns are those of the statement that made it. */
export const rowAs = <Shape>(row: Row): Shape => row as unknown as Shape

export const idDigits = (stream: StreamId): string => stream.slice(PREFIX_LENGTH)
export const idBytes = (stream: StreamId): Uint8Array => Buffer.from(idDigits(stream), 'hex')
export const kindOf = (stream: StreamId): number => {
  if (isRunId(stream)) return RUN
  if (isSessionId(stream)) return SESSION
  return isTaskId(stream) ? TASK : CLERK
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
export const toRunId = (bytes: Uint8Array): RunId => runId(hex(bytes))
export const toClaimableId = (bytes: Uint8Array): ClaimableId => claimableId(hex(bytes))
export const toSessionId = (bytes: Uint8Array): SessionId => sessionId(hex(bytes))
const toStreamId = (row: Pick<StreamRow, 'id' | 'kind'>): StreamId =>
  row.kind === SESSION ? toSessionId(row.id) : toClaimableId(row.id)

export const orNull = <Value, Result>(value: Value | null, turn: (value: Value) => Result): Result | null =>
  value === null ? null : turn(value)

export const toFact = (raw: Row): SealedFact => {
  const row = rowAs<FactRow>(raw)
  return { type: row.type, recordedAt: row.recorded_at, body: row.body, hash: row.hash }
}

export const toRecord = (raw: Row, facts: readonly SealedFact[]): StreamRecord => {
  const row = rowAs<RecordRow>(raw)
  return {
    stream: toStreamId(row),
    tenant: row.tenant as TenantId,
    handler: row.handler,
    systemHash: row.system_hash,
    session: orNull(row.session, toSessionId),
    parent: orNull(row.parent, toClaimableId),
    event: row.event,
    base: row.base,
    version: row.version,
    epoch: row.epoch,
    signal: row.signal,
    status: row.status,
    wakeAt: row.wake_at,
    lease: row.worker,
    recoveries: row.recoveries,
    headHash: row.head_hash,
    createdAt: row.created_at,
    facts,
  }
}

export const toEvent = (raw: Row): StoredEvent => {
  const row = rowAs<EventRow>(raw)
  return {
    sequence: row.seq,
    id: row.id,
    tenant: row.tenant as TenantId,
    source: row.source,
    type: row.type,
    subject: row.subject,
    time: row.time,
    data: JSON.parse(row.data) as Json,
    correlationId: row.correlation ?? row.id,
    causationId: row.causation,
    traceparent: row.traceparent,
    hops: row.hops,
    chain: JSON.parse(row.chain) as readonly string[],
  }
}
