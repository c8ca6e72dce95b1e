/**
 * Converts rows of the tables to values of the port, and back.
 *
 * Owns the notation in the tables: ids are uuids without their prefix, `kind` distinguishes runs, sessions and others. Never runs a
 * statement.
 */
import { type ValuePlace, valueKey } from '#adapters/storage/event-values.ts'
import { readRequesters } from '#model/access/requester.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { ClaimableId, Instant, SessionId, StreamId, TenantId, WorkerId } from '#model/kernel/ids.ts'
import { claimableId, isRunId, isSessionId, isTaskId, sessionId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { SealedFact, StreamRecord } from '#ports/ledger.ts'

export const RUN = 0
export const SESSION = 1
const COORDINATOR = 2
const TASK = 3
const PREFIX_LENGTH = 4

export interface StreamRow {
  readonly id: string
  readonly kind: number
  readonly tenant: TenantId
  readonly handler: string
  readonly system_hash: string
  readonly born_hash: string | null
  readonly session: string | null
  readonly parent: string | null
  readonly event: number | null
  readonly base: number
  readonly version: number
  readonly epoch: number
  readonly signal: number
  readonly head_hash: string
  readonly status: RunStatus
  readonly wake_at: Instant | null
  readonly lease: WorkerId | null
  readonly recoveries: number
  readonly created_at: Instant
}

export interface FactRow {
  readonly stream: string
  readonly seq: number
  readonly type: string
  readonly recorded_at: Instant
  readonly body: string
  readonly hash: string
}

export interface EventRow {
  readonly seq: number
  readonly tenant: TenantId
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
  readonly requesters: string | null
}

export const EVENT_COLUMNS =
  'seq, tenant, source, id, type, subject, time, correlation, causation, traceparent, hops, chain, data, requesters'

/** The key of a value, as a uuid; null for a wait without a path. */
export const keyOf = (place: ValuePlace): string | null =>
  place.path === '' ? null : Buffer.from(valueKey(place)).toString('hex')

/** A column of the stream's last fact; `stream` is the table or its alias. */
const lastFact = (column: string, stream: string): string =>
  `(select f.${column} from fact f where f.stream = ${stream}.id order by f.seq desc limit 1)`

/**
 * A row with a lease may lag behind its facts: its version is the number of its facts, its head the hash of the last. Every other row is
 * exact (docs/decisions/0070).
 */
export const versionOf = (stream: string): string =>
  `case when ${stream}.lease is null then ${stream}.version else greatest(${stream}.version, 1 + ${lastFact('seq', stream)}) end`
export const headOf = (stream: string): string =>
  `case when ${stream}.lease is null then ${stream}.head_hash else coalesce(${lastFact('hash', stream)}, ${stream}.head_hash) end`

/** The columns of a StreamRow, as the facts of the stream determine them. */
export const STREAM_NOW = `id, kind, tenant, handler, system_hash, born_hash, session, parent, event, base, ${versionOf('stream')} as version, epoch,
  signal, ${headOf('stream')} as head_hash, status, wake_at, lease, recoveries, created_at`

export const toUuid = (stream: StreamId): string => stream.slice(PREFIX_LENGTH)
export const kindOf = (stream: StreamId): number => {
  if (isRunId(stream)) return RUN
  if (isSessionId(stream)) return SESSION
  return isTaskId(stream) ? TASK : COORDINATOR
}

export const toStreamId = ({ id, kind }: Pick<StreamRow, 'id' | 'kind'>): StreamId =>
  kind === SESSION ? sessionId(id) : claimableId(id)
export const toParent = (uuid: string | null): ClaimableId | null => (uuid === null ? null : claimableId(uuid))
export const toSessionId = (uuid: string | null): SessionId | null => (uuid === null ? null : sessionId(uuid))

export const toFact = ({ type, recorded_at, body, hash }: FactRow): SealedFact => ({
  type,
  recordedAt: recorded_at,
  body,
  hash,
})

export const toRecord = (row: StreamRow, facts: readonly SealedFact[]): StreamRecord => ({
  stream: toStreamId(row),
  tenant: row.tenant,
  handler: row.handler,
  systemHash: row.system_hash,
  bornHash: row.born_hash,
  session: toSessionId(row.session),
  parent: toParent(row.parent),
  event: row.event,
  base: row.base,
  version: row.version,
  epoch: row.epoch,
  signal: row.signal,
  status: row.status,
  wakeAt: row.wake_at,
  lease: row.lease,
  recoveries: row.recoveries,
  headHash: row.head_hash,
  createdAt: row.created_at,
  facts,
})

export const toEvent = (row: EventRow): StoredEvent => ({
  sequence: row.seq,
  id: row.id,
  tenant: row.tenant,
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
  ...readRequesters(row.requesters),
})
