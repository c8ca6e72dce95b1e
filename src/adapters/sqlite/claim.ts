/**
 * Handing out due runs: each to one worker, with a higher epoch (ledger-7).
 *
 * Owns the order, oldest wake first. Never frees a lease (worker.ts).
 */
import type { ClaimableId } from '../../model/ids.ts'
import type { Claim, ClaimRequest, Claims } from '../../ports/ledger.ts'
import { idBytes, rowAs, type StreamRow, toClaimableId } from './rows.ts'
import { heldOf, type Scope } from './scope.ts'
import type { Statements } from './statements.ts'
import { workerKey } from './worker.ts'

type DueRow = Pick<StreamRow, 'key' | 'id' | 'version' | 'epoch' | 'signal' | 'status' | 'wake_at' | 'recoveries'>

export const findDue = (sql: Statements, { now, limit, only }: ClaimRequest): readonly DueRow[] =>
  only === undefined ? sql.dueStreams.all(now, limit).map(rowAs<DueRow>) : findNamed(sql, now, only).slice(0, limit)

const findNamed = (sql: Statements, now: number, only: readonly ClaimableId[]): DueRow[] =>
  [...new Set(only)]
    .map((run) => sql.dueStream.get(now, idBytes(run)))
    .filter((row) => row !== undefined)
    .map(rowAs<DueRow>)
    .sort((a, b) => (a.wake_at ?? 0) - (b.wake_at ?? 0) || a.key - b.key)

export const lease = (
  scope: Pick<Scope, 'sql' | 'known'>,
  { worker }: ClaimRequest,
  rows: readonly DueRow[],
): readonly Claim[] => {
  const holder = workerKey(scope, worker)
  return rows.map((row) => {
    const stream = toClaimableId(row.id)
    scope.sql.leaseStream.run(holder, row.key)
    const epoch = row.epoch + 1
    scope.known.keep(stream, heldOf({ ...row, epoch }))
    return { stream, version: row.version, epoch, signal: row.signal }
  })
}

export const nextDueAt = (sql: Statements): Claims['nextDueAt'] => {
  const row = sql.nextDue.get()
  return row === undefined ? null : Number(row['wake_at'])
}
