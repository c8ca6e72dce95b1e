/**
 * Workers and their leases: a worker that is silent for too long loses its runs, one that stops releases them.
 *
 * Owns the worker rows. Never gives a lease (claim.ts).
 */
import type { Scope } from '#adapters/storage/sqlite/scope.ts'
import type { Instant, WorkerId } from '#model/kernel/ids.ts'
import type { BeatRequest } from '#ports/ledger.ts'

/** These rules read and write no facts. */
type WriteScope = Pick<Scope, 'sql' | 'known'>

/** The last heartbeat of a worker that never sent one; smaller than any instant minus any duration. */
export const NEVER = Number.MIN_SAFE_INTEGER

/** Creates the worker's row if needed, because a lease refers to its worker by key. */
export const workerKey = ({ sql, known }: WriteScope, worker: WorkerId): number => {
  const key = known.worker(sql, worker)
  return key ?? Number(sql.addWorker.run(worker, NEVER).lastInsertRowid)
}

export const beat = (scope: WriteScope, { worker, now, ttlMs, info }: BeatRequest): number => {
  const { sql, known } = scope
  sql.beatWorker.run(now, info === undefined ? null : JSON.stringify(info), workerKey(scope, worker))
  if (info !== undefined) known.dropLiving()
  const silentBefore = now - ttlMs
  const freed = Number(sql.freeSilent.run(now, silentBefore).changes)
  if (freed > 0) known.dropHeld()
  if (sql.forgetSilent.run(silentBefore).changes !== 0) known.dropWorkers()
  return freed
}

export const retire = ({ sql, known }: WriteScope, worker: WorkerId, now: Instant): void => {
  const key = known.worker(sql, worker)
  if (key === null) return
  sql.freeRetired.run(now, key)
  sql.forgetWorker.run(key)
  known.dropHeld()
  known.dropWorkers()
}
