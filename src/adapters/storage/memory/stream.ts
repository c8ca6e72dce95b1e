/** One stream as the memory store holds it: the record of the port, its facts, and which append wrote each of them. */
import type { ClaimableId, Instant, SessionId, StreamId, TenantId, WorkerId } from '#model/kernel/ids.ts'
import { isClaimable } from '#model/kernel/ids.ts'
import type { RunStatus } from '#model/run/status.ts'
import { isEnded } from '#model/run/status.ts'
import type { SealedFact, StreamRecord } from '#ports/ledger.ts'
import type { Wait } from './waits.ts'

export interface MemoryStream {
  /** Order of creation. */
  readonly key: number
  readonly id: StreamId
  readonly tenant: TenantId
  readonly handler: string
  systemHash: string
  bornHash: string | null
  readonly session: SessionId | null
  readonly parent: ClaimableId | null
  readonly event: number | null
  readonly base: number
  readonly createdAt: Instant
  readonly lane: string
  epoch: number
  signal: number
  status: RunStatus
  wakeAt: Instant | null
  lease: WorkerId | null
  recoveries: number
  headHash: string
  readonly facts: SealedFact[]
  /** The append that wrote each fact, used to recognise a repeated append (ledger-3). */
  readonly appendIds: string[]
  waits: readonly Wait[]
}

/** False for sessions, which are never woken, and for runs that have ended. */
export const canBeSignalled = (stream: MemoryStream): boolean => isClaimable(stream.id) && !isEnded(stream.status)

export const toRecord = (stream: MemoryStream, after: number): StreamRecord => ({
  stream: stream.id,
  tenant: stream.tenant,
  handler: stream.handler,
  systemHash: stream.systemHash,
  bornHash: stream.bornHash,
  session: stream.session,
  parent: stream.parent,
  event: stream.event,
  base: stream.base,
  version: stream.facts.length,
  epoch: stream.epoch,
  signal: stream.signal,
  status: stream.status,
  wakeAt: stream.wakeAt,
  lease: stream.lease,
  recoveries: stream.recoveries,
  headHash: stream.headHash,
  createdAt: stream.createdAt,
  facts: stream.facts.slice(after),
})
