/**
 * Claims of due runs: each run goes to one worker, with a higher epoch (ledger-7).
 *
 * Owns the search; the order and the room in slots are defined in the model (lane.ts). Never frees a lease (worker.ts).
 */
import { type DueRow, idBytes, rowAs, type StreamRow, toClaimableId, toDueRow } from '#adapters/storage/sqlite/rows.ts'
import type { Scope } from '#adapters/storage/sqlite/scope.ts'
import type { Statements } from '#adapters/storage/sqlite/statements.ts'
import { choose, type LeaseCount as HeldInLane, Occupancy, PLAIN_LANE, readLane } from '#model/flow/lane.ts'
import type { ClaimableId, Instant, TenantId } from '#model/kernel/ids.ts'
import { bornAfter, mayTake, pinAfter, type Taker } from '#model/worker/pin.ts'
import type { WorkerInfo } from '#model/worker/worker-info.ts'
import type { Claim, ClaimRequest } from '#ports/ledger.ts'
import { LeasedRow } from './row-cache.ts'
import { workerKey } from './worker.ts'

export interface Found {
  readonly rows: readonly DueRow[]
  /** The wake of the first run that only the limit left out, if known. */
  readonly left: Instant | null
  /** Keys of found runs that this taker can never take: they are set aside. */
  readonly foreign: readonly number[]
}

type WriteScope = Pick<Scope, 'sql' | 'known'>

/** While no run waits in a lane, lanes cost nothing. */
export const findDue = (writeScope: WriteScope, request: ClaimRequest): Found => {
  const { sql, known } = writeScope
  const { only, now, limit } = request
  const pins = new Pins(writeScope, request)
  if (only !== undefined) return chooseAmong(pins, findNamed(sql, request, only), occupancyOf(sql), limit)
  const plain = findPlain(sql, request, pins)
  if (known.firstInLanes(sql) > now) return { rows: plain, left: null, foreign: pins.foreign }
  const occupancy = occupancyOf(sql)
  return chooseAmong(pins, [...plain, ...findInLanes(sql, request, occupancy)], occupancy, limit)
}

/** Filters the due rows that the taker may take (ledger-10); a claim without a taker takes all of them. */
class Pins {
  readonly foreign: number[] = []
  readonly #request: ClaimRequest
  readonly #living: () => readonly WorkerInfo[]

  constructor({ sql, known }: WriteScope, request: ClaimRequest) {
    this.#request = request
    this.#living = () => known.living(sql)
  }

  filter(rows: readonly DueRow[]): readonly DueRow[] {
    const { taker } = this.#request
    return taker === undefined || rows.every((row) => row.system_hash === taker.version)
      ? rows
      : rows.filter((row) => this.#takes(row, taker))
  }

  /** A run that workers of another version serve is skipped; one that this taker can never take is set aside. */
  #takes(row: DueRow, taker: Taker): boolean {
    const { now } = this.#request
    const run = { handler: row.handler, version: row.system_hash, wakeAt: row.wake_at }
    const isTaken = mayTake(run, taker, { now, living: this.#living() })
    const isOurs = taker.takesOver === undefined || taker.takesOver.some(({ handler }) => handler === row.handler)
    if (!isTaken && !isOurs) this.foreign.push(row.key)
    return isTaken
  }
}

/** Reads more rows if skipped ones take up the limit. */
const findPlain = (sql: Statements, request: ClaimRequest, pins: Pins): readonly DueRow[] => {
  const { now, limit, handlers = null } = request
  for (let room = limit; ; room = 2 * room + 1) {
    const rows = (
      handlers === null
        ? sql.dueStreams.all(now, PLAIN_LANE, room)
        : sql.dueStreamsOf.all(now, JSON.stringify(handlers), room)
    ).map(toDueRow)
    const taken = pins.filter(rows)
    if (taken.length >= limit || rows.length < room || pins.foreign.length > 0) return taken.slice(0, limit)
  }
}

const findNamed = (
  sql: Statements,
  { now, handlers = null }: ClaimRequest,
  only: readonly ClaimableId[],
): readonly DueRow[] =>
  [...new Set(only)]
    .flatMap((run) => sql.dueStream.all(now, idBytes(run)).map(toDueRow))
    .filter(({ handler }) => handlers?.includes(handler) ?? true)

const occupancyOf = (sql: Statements): Occupancy => new Occupancy(sql.heldInLanes.all().map(rowAs<HeldInLane>))

/** The first runs of each lane that has room. */
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

const chooseAmong = (pins: Pins, rows: readonly DueRow[], occupancy: Occupancy, limit: number): Found => {
  const due = pins.filter(rows).map((row) => ({ row, lane: row.lane, wakeAt: row.wake_at, key: row.key }))
  const { chosen, left } = choose(due, occupancy, limit)
  return { rows: chosen.map(({ row }) => row), left: left?.wakeAt ?? null, foreign: pins.foreign }
}

/** The runs leave the index, whatever their lane. */
export const setAside = ({ sql, known }: WriteScope, foreign: readonly number[]): void => {
  sql.setAside.run(JSON.stringify(foreign))
  known.moveInLanes()
}

/** A new taker may be able to take them. */
export const takeBack = ({ sql, known }: WriteScope): void => {
  sql.takeBack.run()
  known.moveInLanes()
}

export const isNewTaker = ({ known }: Pick<WriteScope, 'known'>, { taker }: ClaimRequest): boolean =>
  taker?.takesOver !== undefined &&
  known.isNewTaker(`${taker.version}\n${taker.takesOver.map(({ handler }) => handler).join('\n')}`)

export const lease = (
  scope: WriteScope,
  { worker, taker }: ClaimRequest,
  rows: readonly DueRow[],
): readonly Claim[] => {
  const holder = workerKey(scope, worker)
  scope.sql.leaseStreams.run(holder, JSON.stringify(rows.map(({ key }) => key)))
  if (taker !== undefined) repin(scope, taker, rows)
  return rows.map((row) => {
    const stream = toClaimableId(row.id)
    const epoch = row.epoch + 1
    scope.known.moveIn(row.lane)
    scope.known.keep(stream, new LeasedRow(row, holder, epoch))
    return { stream, tenant: row.tenant as TenantId, version: row.version, epoch, signal: row.signal }
  })
}

/** The row as it is once this taker has it. */
export const takenRow = (row: DueRow, taker: Taker | undefined): DueRow => {
  const version = taker === undefined ? row.system_hash : pinOf(row, taker)
  if (version === row.system_hash) return row
  return { ...row, system_hash: version, born_hash: bornAfter(row.born_hash, row.system_hash, row.epoch) }
}

const pinOf = ({ handler, system_hash }: DueRow, { version, takesOver = [] }: Taker): string =>
  system_hash === version
    ? version
    : pinAfter(system_hash, version, takesOver.find((one) => one.handler === handler)?.isFree ?? false)

const repin = ({ sql }: WriteScope, taker: Taker, rows: readonly DueRow[]): void => {
  const moved = rows.filter((row) => pinOf(row, taker) !== row.system_hash)
  if (moved.length > 0) sql.repinStreams.run(taker.version, JSON.stringify(moved.map(({ key }) => key)))
}

export const nextDueAt = (writeScope: WriteScope, request: ClaimRequest, left: Instant | null): Instant | null => {
  const { sql } = writeScope
  const { handlers = null } = request
  const plain = handlers === null ? sql.nextDue.get() : sql.nextDueOf.get(JSON.stringify(handlers))
  const earliest = Math.min(left ?? Infinity, Number(plain?.['wake_at'] ?? Infinity), nextInLanes(writeScope, request))
  return earliest === Infinity ? null : earliest
}

/** A run that is due in a lane waits for room, not for time; runs that only the limit left out are `left`. */
const nextInLanes = ({ sql, known }: WriteScope, { now, handlers = null }: ClaimRequest): Instant => {
  const first = known.firstInLanes(sql)
  if (first === Infinity || (handlers === null && first > now)) return first
  const next = handlers === null ? sql.nextInLanes.get(now) : sql.nextInLanesOf.get(now, JSON.stringify(handlers))
  return Number(next?.['wake_at'] ?? Infinity)
}

/** A run that may wait for the room that a run of this lane releases: the first of the same lane, else of any other. */
export const waitingBehind = (sql: Statements, lane: string): ClaimableId | null => {
  const row = sql.firstInLane.get(lane) ?? sql.firstInLanes.get()
  return row === undefined ? null : toClaimableId(rowAs<Pick<StreamRow, 'id'>>(row).id)
}
