/**
 * Kill -9 and SIGSTOP among several workers that share one Postgres ledger, over connections that are cut as well. The runs of a dead or silent
 * worker are taken over by the others, a worker that resumes is fenced, and nothing acknowledged is lost (R1, R4, R5, R6, R11, V12).
 *
 * Leases are short for volume; a few kills with the real lease of 15 s measure the promise of R11.
 */
import { postgresVersion } from '#test/chaos/census.ts'
import { killOne, stopOne, TAKEOVER_LIMIT_MS, withGround } from '#test/chaos/kill/ground.ts'
import { noteRecoveries } from '#test/chaos/kill/recovery.ts'
import type { Cluster } from '#test/support/stores/postgres.ts'
import { onPostgres } from './on-postgres.ts'
import type { Findings, StageReport } from './report.ts'

export interface KillPostgresOptions {
  readonly kills: number
  readonly stops: number
  /** Kills with the real lease, in each of the groups that run in parallel. */
  readonly timedKills: number
  readonly seed: number
}

const NAME = 'kill postgres'
const SHORT_LEASE_MS = 2_000
const REAL_LEASE_MS = 15_000
const TIMED_GROUPS = 2
/** Every kill is followed by the next one at once, except for these, which wait until everything was taken over. */
const WATCHED_EVERY = 10

const killSeries = (cluster: Cluster, { kills, stops, seed }: KillPostgresOptions): Promise<Findings> =>
  withGround(cluster, { schema: 'kill', leaseTtlMs: SHORT_LEASE_MS, seed }, async (ground, workers) => {
    const takeovers: number[] = []
    for (let killed = 0; killed < kills; killed++) {
      const watched = await killOne(ground, workers, killed % WATCHED_EVERY === 0)
      if (watched !== null) takeovers.push(watched)
    }
    for (let stopped = 0; stopped < stops; stopped++) takeovers.push(await stopOne(ground, workers))
    noteRecoveries('takeover with a lease of 2 s', takeovers, TAKEOVER_LIMIT_MS, ground.scene.findings)
  })

const timedSeries = (cluster: Cluster, kills: number, seed: number): Promise<Findings> =>
  withGround(cluster, { schema: `timed_${seed}`, leaseTtlMs: REAL_LEASE_MS, seed }, async (ground, workers) => {
    const takeovers: number[] = []
    for (let killed = 0; killed < kills; killed++) takeovers.push((await killOne(ground, workers, true)) ?? 0)
    noteRecoveries('takeover with a lease of 15 s', takeovers, TAKEOVER_LIMIT_MS, ground.scene.findings)
  })

const perform = async (cluster: Cluster, options: KillPostgresOptions): Promise<StageReport> => {
  const findings = await killSeries(cluster, options)
  findings.version('postgres', await postgresVersion(cluster.url))
  if (options.timedKills > 0) {
    const seeds = Array.from({ length: TIMED_GROUPS }, (_, group) => options.seed + 1 + group)
    for (const part of await Promise.all(seeds.map((seed) => timedSeries(cluster, options.timedKills, seed))))
      findings.add(part)
  }
  return findings.report(NAME, ['kill', 'stop', 'cut', 'effect'])
}

export const runKillPostgres = (options: KillPostgresOptions): Promise<StageReport> =>
  onPostgres(NAME, (cluster) => perform(cluster, options))
