/**
 * Four workers on one Postgres ledger under steady load: one is killed (-9) every few seconds, and some are stopped past their lease
 * and resumed. Every run ends exactly once, the work of a dead worker continues within its lease and a second, and a worker that resumes is
 * fenced (N5, N10, R4, R5, R11, V12).
 */
import { postgresVersion } from '#test/chaos/census.ts'
import { backlogOf } from '#test/chaos/kill/client.ts'
import { type Ground, replace, suspend, takeoverFrom, withGround } from '#test/chaos/kill/ground.ts'
import type { Life } from '#test/chaos/kill/life.ts'
import { noteRecoveries } from '#test/chaos/kill/recovery.ts'
import type { Cluster } from '#test/support/stores/postgres.ts'
import { pause } from '#test/support/until.ts'
import { onPostgres } from './on-postgres.ts'
import type { StageReport } from './report.ts'

export interface WorkersOptions {
  readonly seconds: number
  readonly killEveryMs: number
  readonly stops: number
  readonly seed: number
}

const NAME = 'workers'
const WORKERS = 4
const LEASE_MS = 3_000
/** Lease and a second (R11). */
const TAKEOVER_LIMIT_MS = LEASE_MS + 1_000
const LOAD_EVERY_MS = 250
const ORDERS_AT_ONCE = 6
const MAX_BACKLOG = 60

/** Customers who do not depend on a particular worker: orders and payments go to any that answers. */
const keepBusy = async ({ scene }: Ground, workers: readonly Life[], isOver: () => boolean): Promise<void> => {
  const { client, random } = scene
  while (!isOver()) {
    const living = workers.filter((life) => !life.isOver && !life.isStopped)
    const life = living.length === 0 ? null : random.pick(living)
    life?.tell({ kind: 'count' })
    if (life !== null && backlogOf(life.counts ?? {}) < MAX_BACKLOG) {
      for (let order = 0; order < ORDERS_AT_ONCE; order++) client.placeOrder()
    }
    life?.deliver(false)
    await pause(LOAD_EVERY_MS)
  }
}

const misbehave = async (ground: Ground, workers: Life[], options: WorkersOptions): Promise<void> => {
  const { random, findings } = ground.scene
  const endsAt = performance.now() + options.seconds * 1_000
  const [kills, stops]: [number[], number[]] = [[], []]
  while (performance.now() < endsAt || kills.length === 0) {
    await pause(options.killEveryMs)
    const index = random.below(workers.length)
    const { worker } = workers[index] as Life
    kills.push(await replace(ground, workers, index, () => takeoverFrom(ground, worker)))
    if (stops.length === options.stops) continue
    const victim = random.pick(workers)
    stops.push(await suspend(ground, victim, () => takeoverFrom(ground, victim.worker)))
  }
  noteRecoveries(`takeover after a kill, lease ${LEASE_MS} ms`, kills, TAKEOVER_LIMIT_MS, findings)
  noteRecoveries(`takeover after a stop, lease ${LEASE_MS} ms`, stops, TAKEOVER_LIMIT_MS, findings)
}

const perform = async (cluster: Cluster, options: WorkersOptions): Promise<StageReport> => {
  const place = { schema: 'workers', leaseTtlMs: LEASE_MS, seed: options.seed, workers: WORKERS }
  const findings = await withGround(cluster, place, async (ground, workers) => {
    let isOver = false
    const busy = keepBusy(ground, workers, () => isOver)
    await misbehave(ground, workers, options).finally(() => {
      isOver = true
    })
    await busy
  })
  findings.version('postgres', await postgresVersion(cluster.url))
  return findings.report(NAME, ['kill', 'stop', 'effect'])
}

export const runWorkers = (options: WorkersOptions): Promise<StageReport> =>
  onPostgres(NAME, (cluster) => perform(cluster, options))
