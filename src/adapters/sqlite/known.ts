/**
 * What the ledger remembers about its own tables, so that the hot path looks nothing up: this process is their only writer.
 *
 * Owns nothing but copies. After a rollback or a reopening all of it is forgotten, because some of it may never have been committed.
 */
import type { StreamId, WorkerId } from '../../model/ids.ts'
import { idBytes } from './rows.ts'
import type { Statements } from './statements.ts'

/** More live leases than any process holds; a parked run is not kept. */
const MAX_KEYS = 65_536

export class Known {
  readonly #keys = new Map<StreamId, number>()
  readonly #workers = new Map<WorkerId, number>()
  #paths: Map<string, Set<string>> | null = null
  #position: number | null = null

  forget(): void {
    this.#keys.clear()
    this.#workers.clear()
    this.#paths = null
    this.#position = null
  }

  /** Null if there is no such stream. */
  key(sql: Statements, stream: StreamId): number | null {
    const cached = this.#keys.get(stream)
    if (cached !== undefined) return cached
    const row = sql.streamKey.get(idBytes(stream))
    return row === undefined ? null : Number(row['key'])
  }

  /** The same for a stream whose holder will ask again. */
  heldKey(sql: Statements, stream: StreamId): number | null {
    const cached = this.#keys.get(stream)
    if (cached !== undefined) return cached
    const key = this.key(sql, stream)
    if (key !== null) this.keep(stream, key)
    return key
  }

  keep(stream: StreamId, key: number): void {
    if (this.#keys.size >= MAX_KEYS) this.#keys.clear()
    this.#keys.set(stream, key)
  }

  drop(stream: StreamId): void {
    this.#keys.delete(stream)
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
  }

  /** The highest event sequence so far. */
  position(sql: Statements): number {
    this.#position ??= Number(sql.lastEvent.get()?.['seq'])
    return this.#position
  }

  moveTo(position: number): void {
    this.#position = position
  }

  /** The paths that any wait for events of this type has ever looked at; '' stands for the type alone. */
  paths(sql: Statements, type: string): ReadonlySet<string> {
    return this.#allPaths(sql).get(type) ?? NO_PATHS
  }

  /** Says whether the path is new. */
  addPath(sql: Statements, type: string, path: string): boolean {
    const all = this.#allPaths(sql)
    const paths = all.get(type) ?? new Set()
    if (paths.has(path)) return false
    all.set(type, paths.add(path))
    return true
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
