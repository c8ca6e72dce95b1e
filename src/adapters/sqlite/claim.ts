/**
 * Handing out due runs: each to one worker, with a higher epoch (ledger-7).
 *
 * Owns the search; the order and the room in slots are the model's (lane.ts). Never frees a lease (worker.ts).
 */
import type { ClaimableId, Instant } from '../../model/ids.ts'
import { choose, type Held, Occupancy, PLAIN_LANE, readLane } from '../../model/lane.ts'
import type { Claim, ClaimRequest } from '../../ports/ledger.ts'
import { idBytes, rowAs, type StreamRow, toClaimableId } from './rows.ts'
import { heldOf, type Scope } from './scope.ts'
import type { Statements } from './statements.ts'
import { workerKey } from './worker.ts'

type DueRow = Pick<StreamRow, 'key' | 'id' | 'version' | 'epoch' | 'signal' | 'status' | 'recoveries'> & {
  readonly handler: string
  readonly wake_at: Instant
  readonly lane: string
}

export interface Found {
  readonly rows: readonly DueRow[]
  /** The wake of the first that only the limit keeps waiting, where that is known. */
  readonly left: Instant | null
}

export const findDue = (sql: Statements, request: ClaimRequest): Found => {
  const { only, now, limit } = request
  if (only !== undefined) return chooseAmong(findNamed(sql, request, only), occupancyOf(sql), limit)
  const plain = findPlain(sql, request)
  if (!isDueInLanes(sql, now)) return { rows: plain, left: null }
  const occupancy = occupancyOf(sql)
  return chooseAmong([...plain, ...findInLanes(sql, request, occupancy)], occupancy, limit)
}

const findPlain = (sql: Statements, { now, limit, handlers = null }: ClaimRequest): readonly DueRow[] =>
  (handlers === null
    ? sql.dueStreams.all(now, PLAIN_LANE, limit)
    : sql.dueStreamsOf.all(now, JSON.stringify(handlers), limit)
  ).map(rowAs<DueRow>)

const findNamed = (
  sql: Statements,
  { now, handlers = null }: ClaimRequest,
  only: readonly ClaimableId[],
): readonly DueRow[] =>
  [...new Set(only)]
    .map((run) => sql.dueStream.get(now, idBytes(run)))
    .filter((row) => row !== undefined)
    .map(rowAs<DueRow>)
    .filter(({ handler }) => handlers?.includes(handler) ?? true)

/** Where nobody uses lanes, this look is all that they cost. */
const isDueInLanes = (sql: Statements, now: Instant): boolean => {
  const first = sql.firstInLanes.get()
  return first !== undefined && Number(first['wake_at']) <= now
}

const occupancyOf = (sql: Statements): Occupancy => new Occupancy(sql.heldInLanes.all().map(rowAs<Held>))

/** The first of each lane that has room: however many wait in a lane that is full, it costs one look. */
const findInLanes = (
  sql: Statements,
  { now, limit, handlers = null }: ClaimRequest,
  occupancy: Occupancy,
): readonly DueRow[] => {
  const rows: DueRow[] = []
  for (const { lane, wake_at } of walkLanes(sql)) {
    const parsed = readLane(lane)
    const room = Math.min(limit + 1, occupancy.roomIn(parsed))
    if (wake_at > now || room === 0 || !(handlers?.includes(parsed.handler) ?? true)) continue
    rows.push(...sql.dueStreams.all(now, lane, room).map(rowAs<DueRow>))
  }
  return rows
}

function* walkLanes(sql: Statements): Iterable<Pick<DueRow, 'lane' | 'wake_at'>> {
  for (let row = sql.nextLane.get(PLAIN_LANE); row !== undefined; row = sql.nextLane.get(String(row['lane'])))
    yield rowAs<Pick<DueRow, 'lane' | 'wake_at'>>(row)
}

const chooseAmong = (rows: readonly DueRow[], occupancy: Occupancy, limit: number): Found => {
  const due = rows.map((row) => ({ row, lane: row.lane, wakeAt: row.wake_at, key: row.key }))
  const { chosen, left } = choose(due, occupancy, limit)
  return { rows: chosen.map(({ row }) => row), left: left?.wakeAt ?? null }
}

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

/** In a lane, who is due waits for room and not for time; those that only the limit kept waiting are `left`. */
export const nextDueAt = (
  sql: Statements,
  { now, handlers = null }: ClaimRequest,
  left: Instant | null,
): Instant | null => {
  const names = handlers === null ? null : JSON.stringify(handlers)
  const plain = names === null ? sql.nextDue.get() : sql.nextDueOf.get(names)
  const inLanes = names === null ? sql.nextInLanes.get(now) : sql.nextInLanesOf.get(now, names)
  const earliest = Math.min(left ?? Infinity, ...[plain, inLanes].map((row) => Number(row?.['wake_at'] ?? Infinity)))
  return earliest === Infinity ? null : earliest
}

/** A run that may wait for the room that a run of this lane gives back: the first of the same lane, else of any other. */
export const waitingBehind = (sql: Statements, lane: string): ClaimableId | null => {
  const row = sql.firstInLane.get(lane) ?? sql.firstInLanes.get()
  return row === undefined ? null : toClaimableId(rowAs<Pick<StreamRow, 'id'>>(row).id)
}
