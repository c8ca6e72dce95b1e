/**
 * The queries that people and pages need. Separate from the Ledger, so that the Ledger stays small.
 *
 * Reads only; answers may be a moment old; never used to decide what a run does next.
 */
import type { StoredEvent } from '../model/event.ts'
import type { ClaimableId, Instant, RunId, SessionId, TenantId, WorkerId } from '../model/ids.ts'
import type { Json } from '../model/json.ts'
import type { RunStatus } from '../model/status.ts'
import type { WorkerInfo } from '../model/worker-info.ts'
import type { SealedFact, Suppression } from './ledger.ts'

export interface Reader {
  /** One page of runs, newest first. The cursor is the last id of the page before. */
  runs(query: RunQuery): Promise<readonly RunSummary[]>
  run(tenant: TenantId, id: RunId): Promise<RunSummary | null>
  /** Runs whose id ends with these digits, at most two: enough to tell none, one or several. */
  runsEndingWith(tenant: TenantId, digits: string): Promise<readonly RunId[]>
  children(tenant: TenantId, id: RunId): Promise<readonly RunSummary[]>
  facts(
    tenant: TenantId,
    id: RunId,
    page: { readonly after: number; readonly limit: number },
  ): Promise<readonly SealedFact[]>
  /** How many runs have each status; of one handler, if it is named. */
  counts(tenant: TenantId, handler?: string): Promise<ReadonlyMap<RunStatus, number>>
  events(query: {
    readonly tenant: TenantId
    readonly type: string | null
    readonly before: number | null
    readonly limit: number
  }): Promise<readonly StoredEvent[]>
  suppressed(tenant: TenantId, event: number): Promise<readonly Suppression[]>
  document(tenant: TenantId, table: string, key: string): Promise<Json | null>
  /** Workers that beat and were not given up, in the order of their ids. The cursor is the last id of the page before. */
  workers(query: { readonly after: WorkerId | null; readonly limit: number }): Promise<readonly WorkerSummary[]>
  /** The runs on which this worker has the lease, oldest first. */
  heldBy(tenant: TenantId, worker: WorkerId, limit: number): Promise<readonly RunSummary[]>
}

export interface RunQuery {
  readonly tenant: TenantId
  readonly status: RunStatus | null
  readonly handler: string | null
  readonly before: RunId | null
  readonly limit: number
}

export interface RunSummary {
  readonly id: RunId
  readonly handler: string
  readonly status: RunStatus
  readonly session: SessionId | null
  readonly parent: ClaimableId | null
  readonly event: number | null
  readonly version: number
  readonly wakeAt: Instant | null
  readonly leased: boolean
  readonly createdAt: Instant
}

export interface WorkerSummary {
  readonly id: WorkerId
  readonly beatAt: Instant
  /** Null: an older version, which does not tell. */
  readonly info: WorkerInfo | null
  /** How many leases it has, of runs of every tenant. */
  readonly leases: number
}
