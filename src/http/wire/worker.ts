/**
 * Workers, pools, circuit breakers and the stop on the wire.
 *
 * Owns the documents. Never queries anything.
 */
import type {
  Circuit as CircuitDocument,
  Pool as PoolDocument,
  Stop as StopDocument,
  WorkerDetail,
  Worker as WorkerDocument,
} from '#http/openapi/api.ts'
import type { Pool } from '#manifest/define/placement.ts'
import type { CircuitState } from '#model/worker/circuit.ts'
import type { PoolLoad } from '#model/worker/pool-load.ts'
import type { Stop } from '#model/worker/worker-control.ts'
import type { WorkerInfo } from '#model/worker/worker-info.ts'
import type { RunSummary, WorkerSummary } from '#ports/reader.ts'
import { isoTime, isoTimeOrNull } from './time.ts'
import { runDocument } from './wire.ts'

export const workerStatus = (info: WorkerInfo | null): WorkerDocument['status'] =>
  info?.drains === true ? 'draining' : (info?.halt ?? 'working')

export const workerDocument = ({ id, info, beatAt, leases }: WorkerSummary): WorkerDocument => ({
  id,
  name: info?.name ?? null,
  status: workerStatus(info),
  pool: info?.pool ?? null,
  labels: info?.labels ?? {},
  modules: info?.modules ?? null,
  slots: info?.slots ?? null,
  leases,
  started_at: isoTimeOrNull(info?.startedAt ?? null),
  beat_at: isoTime(beatAt),
})

export const workerDetail = (worker: WorkerSummary, runs: readonly RunSummary[]): WorkerDetail => ({
  ...workerDocument(worker),
  runs: runs.map(runDocument),
})

/** `pool`: undefined for workers and runs without a pool. `more`: not all waiting runs were read. */
export const poolDocument = (load: PoolLoad, pool: Pool | undefined, more: boolean): PoolDocument => ({
  name: load.pool,
  labels: pool?.labels ?? {},
  modules: pool?.modules ?? null,
  min: pool?.min ?? 0,
  max: pool?.max ?? null,
  workers: load.workers,
  taking: load.taking,
  capacity: load.capacity,
  used: load.used,
  queued: load.queued,
  more,
  oldest_at: isoTimeOrNull(load.oldestAt),
})

export const circuitDocument = (key: string, state: CircuitState, handlers: readonly string[]): CircuitDocument => ({
  key,
  status: state.kind,
  until: state.kind === 'closed' ? null : isoTime(state.until),
  openings: state.round,
  handlers,
})

export const stopDocument = (stop: Stop | null): StopDocument => ({
  is_stopped: stop !== null,
  by: stop?.by ?? null,
  reason: stop?.reason ?? null,
  at: isoTimeOrNull(stop?.at ?? null),
})
