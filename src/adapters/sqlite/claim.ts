/**
 * Handing out due runs: each to one worker, with a higher epoch (ledger-7).
 *
 * Owns the search; the order and the room in slots are the model's (lane.ts). Never frees a lease (worker.ts).
 */
import type { ClaimableId, Instant, TenantId } from '../../model/ids.ts'
import { choose, type Held as HeldInLane, Occupancy, PLAIN_LANE, readLane } from '../../model/lane.ts'
import type { Claim, ClaimRequest } from '../../ports/ledger.ts'
import { Held } from './known.ts'
import { type DueRow, idBytes, rowAs, type StreamRow, toClaimableId, toDueRow } from './rows.ts'
import type { Scope } from './scope.ts'
import type { Statements } from './statements.ts'
import { workerKey } from './worker.ts'

export interface Found {
  readonly rows: readonly DueRow[]
  /** The wake of the first that only the limit keeps waiting, where that is known. */
  readonly left: Instant | null
}

type Desk = Pick<Scope, 'sql' | 'known'>

/** Where nobody waits in a lane, lanes cost nothing. */
export const findDue = ({ sql, known }: Desk, request: ClaimRequest): Found => {
  const { only, now, limit } = request
  if (only !== undefined) return chooseAmong(findNamed(sql, request, only), occupancyOf(sql), limit)
  const plain = findPlain(sql, request)
  if (known.firstInLanes(sql) > now) return { rows: plain, left: null }
  const occupancy = occupancyOf(sql)
  return chooseAmong([...plain, ...findInLanes(sql, request, occupancy)], occupancy, limit)
}

const findPlain = (sql: Statements, { now, limit, handlers = null }: ClaimRequest): readonly DueRow[] =>
  (handlers === null
    ? sql.dueStreams.all(now, PLAIN_LANE, limit)
    : sql.dueStreamsOf.all(now, JSON.stringify(handlers), limit)
  ).map(toDueRow)

const findNamed = (
  sql: Statements,
  { now, handlers = null }: ClaimRequest,
  only: readonly ClaimableId[],
): readonly DueRow[] =>
  [...new Set(only)]
    .flatMap((run) => sql.dueStream.all(now, idBytes(run)).map(toDueRow))
    .filter(({ handler }) => handlers?.includes(handler) ?? true)

const occupancyOf = (sql: Statements): Occupancy => new Occupancy(sql.heldInLanes.all().map(rowAs<HeldInLane>))

/** The first of each lane that has room. */
const findInLanes = (
  sql: Statements,
  { now, limit, handlers = null }: ClaimRequest,
  occupancy: Occupancy,
): readonly DueRow[] => {
  const rows: DueRow[] = []
  for (const { lane } of sql.dueLanes.all(now).map(rowAs<Pick<DueRow, 'lane'>>)) {
    const parsed = readLane(lane)
    const room = Math.min(limit + 1, occupancy.roomIn(parsed))
    if (room === 0 || !(handlers?.includes(parsed.handler) ?? true)) continue
    rows.push(...sql.dueStreams.all(now, lane, room).map(toDueRow))
  }
  return rows
}

const chooseAmong = (rows: readonly DueRow[], occupancy: Occupancy, limit: number): Found => {
  const due = rows.map((row) => ({ row, lane: row.lane, wakeAt: row.wake_at, key: row.key }))
  const { chosen, left } = choose(due, occupancy, limit)
  return { rows: chosen.map(({ row }) => row), left: left?.wakeAt ?? null }
}

export const lease = (scope: Desk, { worker }: ClaimRequest, rows: readonly DueRow[]): readonly Claim[] => {
  const holder = workerKey(scope, worker)
  scope.sql.leaseStreams.run(holder, JSON.stringify(rows.map(({ key }) => key)))
  return rows.map((row) => {
    const stream = toClaimableId(row.id)
    const epoch = row.epoch + 1
    scope.known.moveIn(row.lane)
    scope.known.keep(stream, new Held(row, holder, epoch))
    return { stream, tenant: row.tenant as TenantId, version: row.version, epoch, signal: row.signal }
  })
}

export const nextDueAt = (desk: Desk, request: ClaimRequest, left: Instant | null): Instant | null => {
  const { sql } = desk
  const { handlers = null } = request
  const plain = handlers === null ? sql.nextDue.get() : sql.nextDueOf.get(JSON.stringify(handlers))
  const earliest = Math.min(left ?? Infinity, Number(plain?.['wake_at'] ?? Infinity), nextInLanes(desk, request))
  return earliest === Infinity ? null : earliest
}

/** In a lane, who is due waits for room and not for time; those that only the limit kept waiting are `left`. */
const nextInLanes = ({ sql, known }: Desk, { now, handlers = null }: ClaimRequest): Instant => {
  const first = known.firstInLanes(sql)
  if (first === Infinity || (handlers === null && first > now)) return first
  const next = handlers === null ? sql.nextInLanes.get(now) : sql.nextInLanesOf.get(now, JSON.stringify(handlers))
  return Number(next?.['wake_at'] ?? Infinity)
}

/** A run that may wait for the room that a run of this lane gives back: the first of the same lane, else of any other. */
export const waitingBehind = (sql: Statements, lane: string): ClaimableId | null => {
  const row = sql.firstInLane.get(lane) ?? sql.firstInLanes.get()
  return row === undefined ? null : toClaimableId(rowAs<Pick<StreamRow, 'id'>>(row).id)
}
