/**
 * The writes of an append to streams: the hot step, any other write to an existing stream, and the creation of a stream.
 *
 * Owns the fence (ledger-4), the release of a lease and when a parked run is due (ledger-6). Returns false where the write conflicts.
 */
import { idBytes, kindOf, orNull, type StreamRow } from '#adapters/storage/sqlite/rows.ts'
import type { Context, Scope } from '#adapters/storage/sqlite/scope.ts'
import { Step } from '#adapters/storage/sqlite/thread/packed-step.ts'
import { laneOf, PLAIN_LANE } from '#model/flow/lane.ts'
import { type ClaimableId, type Instant, isClaimable } from '#model/kernel/ids.ts'
import { isEnded } from '#model/run/status.ts'
import type { NewStream, StreamWrite } from '#ports/ledger.ts'
import { waitingBehind } from './claim.ts'
import type { FactRows } from './facts.ts'
import { LeasedRow } from './row-cache.ts'
import { dueAtOnce } from './signal.ts'
import { putTask } from './task.ts'
import { closeWaits, hasUnseenEvent, openWaits } from './wait.ts'
import { workerKey } from './worker.ts'

interface Parking {
  readonly tenant: string
  readonly lease: number | null
  readonly signal: number
  readonly due: Instant
}

/** True for a write of the holder's facts and nothing else, as almost every step is. */
export const isStep = ({ create, epoch, facts, release, opensWaits, closesWaits, task }: StreamWrite): boolean =>
  create === null &&
  task === undefined &&
  epoch !== null &&
  !release &&
  facts.length > 0 &&
  opensWaits.length === 0 &&
  closesWaits.length === 0

/** Does not update the row: the holder's next release, or whatever takes the lease away, updates it to the facts. */
export const writeStep = ({ facts }: Scope, step: Step | StreamWrite, held: LeasedRow, appendId: string): boolean => {
  const { key, epoch, version } = held
  if (step.expectedVersion !== version || step.epoch !== epoch) return false
  if (step instanceof Step) {
    facts.add(key, version, appendId, epoch, step)
    held.version += 1
  } else {
    addFacts(facts, step, key, appendId, epoch)
    held.version += step.facts.length
  }
  return true
}

export const fits = (row: StreamRow | null, { expectedVersion, epoch }: StreamWrite): boolean =>
  row !== null && row.version === expectedVersion && (epoch === null || row.epoch === epoch)

/** Any other write; the caller has checked that it fits the row. */
export const writeStream = (scope: Scope, write: StreamWrite, row: StreamRow, context: Context): void => {
  const { sql, known } = scope
  const { stream, expectedVersion, epoch, facts, headHash, status } = write
  // An external command never takes the lease from its holder.
  const lease = write.release && epoch !== null ? null : row.lease
  if (lease === null && row.lease !== null && row.lane !== PLAIN_LANE) {
    const waiting = waitingBehind(sql, row.lane)
    if (waiting !== null) context.signalled.add(waiting)
  }
  const due = dueAtOnce(scope, row, context.now)
  const { signal, wakeAt } = park(
    scope,
    write,
    { tenant: row.tenant, lease, signal: row.signal, due },
    context.signalled,
  )
  const recoveries = facts.length > 0 ? 0 : row.recoveries
  const version = expectedVersion + facts.length
  if (lease === null) sql.settleStream.run(version, headHash, status, signal, wakeAt, null, recoveries, row.key)
  else sql.settleHeld.run(version, headHash, status, signal, recoveries, row.key)
  known.moveIn(row.lane)
  if (lease === null) known.drop(stream)
  else known.held(stream)?.settle(version, signal, status, recoveries)
  addFacts(scope.facts, write, row.key, context.appendId, row.epoch)
  closeWaits(scope, row.key, write.closesWaits)
  openWaits(scope, row.key, row.tenant, write.opensWaits)
  if (write.task !== undefined) putTask(scope, stream, write.task)
}

export const createStream = (scope: Scope, write: StreamWrite, create: NewStream, context: Context): boolean => {
  const { sql, known } = scope
  const { stream, facts, headHash, status } = write
  const { tenant, handler, systemHash, session, parent, createdAt } = create
  const lease = create.lease === null || write.release ? null : workerKey(scope, create.lease)
  const epoch = create.lease === null ? 0 : 1
  const event = create.event === null ? (create.sequence ?? null) : (context.sequences[create.event] ?? null)
  const due = context.now ?? createdAt
  const { signal, wakeAt } = park(scope, write, { tenant, lease, signal: 0, due }, context.signalled)
  const [id, kind, version] = [idBytes(stream), kindOf(stream), facts.length]
  const lane = laneOf(handler, create.priority, create.slots)
  known.moveIn(lane)
  const made = sql.createStream.run(
    ...[id, kind, tenant, handler, systemHash, orNull(session, idBytes), orNull(parent, idBytes), event],
    ...[event ?? known.position(sql), version, epoch, signal, headHash, status, wakeAt, lease, createdAt, lane],
  )
  if (made.changes !== 1) return false
  const key = Number(made.lastInsertRowid)
  if (lease !== null)
    known.keep(
      stream,
      new LeasedRow({ key, id, kind, tenant, version, epoch, signal, status, recoveries: 0, lane }, lease),
    )
  addFacts(scope.facts, write, key, context.appendId, epoch)
  openWaits(scope, key, tenant, write.opensWaits)
  if (write.task !== undefined) putTask(scope, stream, write.task)
  return true
}

/** When the stream wakes after this write, and its signal count. A held run is not woken: its release decides. */
const park = (
  scope: Scope,
  write: StreamWrite,
  parking: Parking,
  signalled: Set<ClaimableId>,
): { signal: number; wakeAt: Instant | null } => {
  const { stream, status, seenSignal, wakeAt, opensWaits } = write
  if (!isClaimable(stream)) return { signal: parking.signal, wakeAt: null }
  const isLate = !isEnded(status) && hasUnseenEvent(scope, parking.tenant, opensWaits)
  const signal = parking.signal + (isLate ? 1 : 0)
  const hasNewSignal = parking.lease === null && signal > seenSignal && !isEnded(status)
  if (isLate || hasNewSignal) signalled.add(stream)
  if (parking.lease !== null) return { signal, wakeAt: null }
  return { signal, wakeAt: hasNewSignal ? Math.min(wakeAt ?? Infinity, parking.due) : wakeAt }
}

const addFacts = (rows: FactRows, write: StreamWrite, key: number, appendId: string, epoch: number): void => {
  let seq = write.expectedVersion
  for (const fact of write.facts) rows.add(key, seq++, appendId, epoch, fact)
}
