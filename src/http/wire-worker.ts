/**
 * Workers as the wire spells them.
 *
 * Owns the documents. Never queries anything.
 */

import type { RunSummary, WorkerSummary } from '../ports/reader.ts'
import type { WorkerDetail, Worker as WorkerDocument } from './api.ts'
import { runDocument } from './wire.ts'
import { isoTime, isoTimeOrNull } from './wire-time.ts'

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
