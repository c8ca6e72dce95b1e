/**
 * Cache of the ledger's own tables, so that the hot path needs no lookups: this process is their only writer.
 *
 * Owns copies only. After a rollback or a reopening it is cleared, because part of it may never have been committed.
 */
import { idBytes, type StreamRow } from '#adapters/storage/sqlite/rows.ts'
import type { Statements } from '#adapters/storage/sqlite/statements.ts'
import { PLAIN_LANE } from '#model/flow/lane.ts'
import type { Instant, StreamId, WorkerId } from '#model/kernel/ids.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { WorkerInfo } from '#model/worker/worker-info.ts'
import type { Outcome } from '#ports/ledger.ts'

/** More live leases than any process holds; parked runs are not cached. */
const MAX_HELD = 65_536

/**
 * The row of a stream with a lease, always with the same hidden class. Its version is the number of its facts: the table may have a lower
 * one.
 */
export class LeasedRow implements StreamRow {
  readonly key: number
  readonly id: Uint8Array
  readonly kind: number
  readonly tenant: string
  readonly lane: string
  readonly epoch: number
  readonly lease: number
  readonly wake_at = null
  version: number
  signal: number
  status: RunStatus
  recoveries: number

  constructor(row: Omit<StreamRow, 'lease' | 'wake_at'>, lease: number, epoch = row.epoch) {
    this.key = row.key
    this.id = row.id
    this.kind = row.kind
    this.tenant = row.tenant
    this.lane = row.lane
    this.epoch = epoch
    this.lease = lease
    this.version = row.version
    this.signal = row.signal
    this.status = row.status
    this.recoveries = row.recoveries
  }

  settle(version: number, signal: number, status: RunStatus, recoveries: number): void {
    this.version = version
    this.signal = signal
    this.status = status
    this.recoveries = recoveries
  }
}

export class RowCache {
  readonly #held = new Map<StreamId, LeasedRow>()
  readonly #workers = new Map<WorkerId, number>()
  #paths: Map<string, Set<string>> | null = null
  readonly #since = new Map<string, number>()
  #position: number | null = null
  #firstInLanes: Instant | null = null
  #living: readonly WorkerInfo[] | null = null
  /** Kept when everything else is cleared: the table keeps the runs that were set aside for it. */
  #taker: string | null = null
  #written: Exclude<Outcome, { readonly kind: 'conflict' }> | null = null

  forget(): void {
    this.#held.clear()
    this.#workers.clear()
    this.#paths = null
    this.#since.clear()
    this.#position = null
    this.#firstInLanes = null
    this.#living = null
  }

  /** Null if there is no such stream. */
  key(sql: Statements, stream: StreamId): number | null {
    const held = this.#held.get(stream)
    if (held !== undefined) return held.key
    const row = sql.streamKey.get(idBytes(stream))
    return row === undefined ? null : Number(row['key'])
  }

  /** Undefined: not cached; the stream may still have a lease. */
  held(stream: StreamId): LeasedRow | undefined {
    return this.#held.get(stream)
  }

  keep(stream: StreamId, held: LeasedRow): LeasedRow {
    if (this.#held.size >= MAX_HELD) this.#held.clear()
    this.#held.set(stream, held)
    return held
  }

  drop(stream: StreamId): void {
    this.#held.delete(stream)
  }

  /** Some leases were taken away, and it is not known which. */
  dropHeld(): void {
    this.#held.clear()
    this.#firstInLanes = null
  }

  /** When the first parked run outside of the plain lane wakes; Infinity if there is none. Every claim reads it. */
  firstInLanes(sql: Statements): Instant {
    this.#firstInLanes ??= Number(sql.firstInLanes.get()?.['wake_at'] ?? Infinity)
    return this.#firstInLanes
  }

  /** A stream of this lane changes its wake or its lease. */
  moveIn(lane: string): void {
    if (lane !== PLAIN_LANE) this.moveInLanes()
  }

  /** Streams of any lane may have changed their wake or lease. */
  moveInLanes(): void {
    this.#firstInLanes = null
  }

  worker(sql: Statements, worker: WorkerId): number | null {
    const cached = this.#workers.get(worker)
    if (cached !== undefined) return cached
    const row = sql.workerKey.get(worker)
    if (row === undefined) return null
    const key = Number(row['key'])
    this.#workers.set(worker, key)
    return key
  }

  dropWorkers(): void {
    this.#workers.clear()
    this.#living = null
  }

  /** The information that workers have published about themselves. */
  living(sql: Statements): readonly WorkerInfo[] {
    this.#living ??= sql.workerInfos.all().map(({ info }) => JSON.parse(String(info)) as WorkerInfo)
    return this.#living
  }

  /** A worker has published new information about itself. */
  dropLiving(): void {
    this.#living = null
  }

  /** True if runs were last set aside for another taker (compared as text), or by an earlier process. */
  isNewTaker(taker: string): boolean {
    if (this.#taker === taker) return false
    this.#taker = taker
    return true
  }

  /** The highest event sequence so far. */
  position(sql: Statements): number {
    this.#position ??= Number(sql.lastEvent.get()?.['seq'])
    return this.#position
  }

  /** The outcome of a step: one object for all steps at the same position. */
  written(sql: Statements): Outcome {
    const position = this.position(sql)
    if (this.#written?.position !== position)
      this.#written = { kind: 'written', sequences: NONE, position, signalled: NONE }
    return this.#written
  }

  moveTo(position: number): void {
    this.#position = position
  }

  /** The paths that any wait for events of this type has ever used; '' stands for the type alone. */
  paths(sql: Statements, type: string): ReadonlySet<string> {
    return this.#allPaths(sql).get(type) ?? NO_PATHS
  }

  /** Returns true if the path is new. */
  addPath(sql: Statements, type: string, path: string): boolean {
    const all = this.#allPaths(sql)
    const paths = all.get(type) ?? new Set()
    if (paths.has(path)) return false
    all.set(type, paths.add(path))
    return true
  }

  /** The sequence after which a tenant's events of a type are listed by a path; null: they are not. */
  since(sql: Statements, tenant: string, type: string, path: string): number | null {
    const key = `${tenant}\n${type}\n${path}`
    const cached = this.#since.get(key)
    if (cached !== undefined) return cached
    const row = sql.valuePath.get(tenant, type, path)
    if (row === undefined) return null
    const since = Number(row['since'])
    this.#since.set(key, since)
    return since
  }

  moveSince(tenant: string, type: string, path: string, since: number): void {
    this.#since.set(`${tenant}\n${type}\n${path}`, since)
  }

  #allPaths(sql: Statements): Map<string, Set<string>> {
    if (this.#paths !== null) return this.#paths
    const all = new Map<string, Set<string>>()
    for (const { type, path } of sql.waitPaths.all() as unknown as { type: string; path: string }[]) {
      all.set(type, (all.get(type) ?? new Set()).add(path))
    }
    this.#paths = all
    return all
  }
}

const NO_PATHS: ReadonlySet<string> = new Set()
const NONE: readonly never[] = []
