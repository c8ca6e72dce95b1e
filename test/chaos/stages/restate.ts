/**
 * Workers on one Postgres ledger that Restate wakes, while workers are killed or stopped, their connections are cut, and the Restate server is
 * killed and restarted. Nothing acknowledged is lost and every run ends once: the ledger decides, wakes are hints (R1, R4, R11).
 *
 * Owns when Restate is down. Half of the kills happen while it is.
 */
import { postgresVersion } from '#test/chaos/census.ts'
import { killOne, stopOne, TAKEOVER_LIMIT_MS, withGround } from '#test/chaos/kill/ground.ts'
import { noteRecoveries } from '#test/chaos/kill/recovery.ts'
import { type RestateServer, startRestate } from '#test/support/serving/restate.ts'
import { type Cluster, startPostgres } from '#test/support/stores/postgres.ts'
import { type StageReport, skipped } from './report.ts'

export interface RestateStageOptions {
  /** In each: a worker killed, the server killed, another worker killed, the server started. */
  readonly rounds: number
  readonly stops: number
  readonly seed: number
}

const NAME = 'restate'
const LEASE_MS = 2_000
/** Every this many rounds the stage waits until everything was taken over, once without Restate. */
const WATCHED_EVERY = 5

const perform = async (cluster: Cluster, server: RestateServer, options: RestateStageOptions): Promise<StageReport> => {
  const { rounds, stops, seed } = options
  const restate = { ingress: server.ingress, admin: server.admin }
  const findings = await withGround(
    cluster,
    { schema: 'restate', leaseTtlMs: LEASE_MS, seed, restate },
    async (ground, workers) => {
      const takeovers: (number | null)[] = []
      for (let round = 0; round < rounds; round++) {
        const isWatched = round % WATCHED_EVERY === 0
        takeovers.push(await killOne(ground, workers, isWatched))
        await server.crash()
        ground.scene.findings.fault('restate killed')
        takeovers.push(await killOne(ground, workers, isWatched))
        await server.start()
      }
      for (let stopped = 0; stopped < stops; stopped++) takeovers.push(await stopOne(ground, workers))
      const watched = takeovers.filter((ms) => ms !== null)
      noteRecoveries('takeover with a lease of 2 s', watched, TAKEOVER_LIMIT_MS, ground.scene.findings)
    },
  )
  findings.version('postgres', await postgresVersion(cluster.url))
  return findings.report(NAME, ['kill', 'stop', 'cut', 'effect', 'restate killed'])
}

export const runRestate = async (options: RestateStageOptions): Promise<StageReport> => {
  let cluster: Cluster
  try {
    cluster = await startPostgres()
  } catch (error) {
    return skipped(NAME, 'pg', error instanceof Error ? error.message : String(error))
  }
  try {
    const server = await startRestate()
    try {
      return await perform(cluster, server, options)
    } finally {
      await server.stop()
    }
  } finally {
    await cluster.stop()
  }
}
