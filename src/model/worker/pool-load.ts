/**
 * The load of each pool: its capacity, its leases, and the runs that wait for it.
 *
 * Owns which workers and runs count for which pool. Runs that name no pool wait for any worker that fits; they are shown with the
 * workers that are in no pool.
 */
import type { Instant } from '#model/kernel/ids.ts'
import { takesRuns, type WorkerInfo } from './worker-info.ts'

export interface PoolLoad {
  /** Null: no pool. */
  readonly pool: string | null
  readonly workers: number
  /** How many of them claim runs now. */
  readonly taking: number
  /** How many runs the claiming workers can hold at once. */
  readonly capacity: number
  /** The leases of all of them. */
  readonly used: number
  readonly queued: number
  readonly oldestAt: Instant | null
}

export interface PoolWorld {
  readonly pools: readonly string[]
  readonly workers: readonly { readonly info: WorkerInfo | null; readonly leases: number }[]
  readonly due: readonly { readonly handler: string; readonly count: number; readonly since: Instant }[]
  readonly poolOf: (handler: string) => string | null
}

export const poolLoads = ({ pools, workers, due, poolOf }: PoolWorld): readonly PoolLoad[] =>
  [...pools, null].map((pool) => {
    const own = workers.filter(({ info }) => (info?.pool ?? null) === pool)
    const taking = own.filter(({ info }) => info !== null && takesRuns(info))
    const waiting = due.filter(({ handler }) => poolOf(handler) === pool)
    const sum = <Item>(items: readonly Item[], of: (item: Item) => number): number =>
      items.reduce((total, item) => total + of(item), 0)
    return {
      pool,
      workers: own.length,
      taking: taking.length,
      capacity: sum(taking, ({ info }) => info?.slots ?? 0),
      used: sum(own, ({ leases }) => leases),
      queued: sum(waiting, ({ count }) => count),
      oldestAt: waiting.length === 0 ? null : Math.min(...waiting.map(({ since }) => since)),
    }
  })
