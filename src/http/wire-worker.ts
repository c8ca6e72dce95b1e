/**
 * Workers as the wire spells them.
 *
 * Owns the documents. Never queries anything.
 */
import type { RunSummary, WorkerSummary } from '../ports/reader.ts'
import { type RunDocument, runDocument } from './wire.ts'
import { isoTime, isoTimeOrNull } from './wire-time.ts'

export interface WorkerDocument {
  readonly id: string
  /** Null, as all that a worker of an older version does not tell. */
  readonly name: string | null
  readonly status: 'working' | 'draining'
  readonly pool: string | null
  readonly labels: Readonly<Record<string, string>>
  /** The modules whose functions it may run; null: all. */
  readonly modules: readonly string[] | null
  readonly slots: number | null
  readonly leases: number
  readonly started_at: string | null
  readonly beat_at: string
}

export interface WorkerDetail extends WorkerDocument {
  /** What it has the lease of, oldest first, at most 100. */
  readonly runs: readonly RunDocument[]
}

export const workerDocument = ({ id, info, beatAt, leases }: WorkerSummary): WorkerDocument => ({
  id,
  name: info?.name ?? null,
  status: info?.drains === true ? 'draining' : 'working',
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
