/**
 * Kill -9 and SIGSTOP among several workers that share one Postgres ledger, over wires that are cut as well. What the dead or silent
 * one held is taken over by the others, a worker that comes back is fenced, and nothing acknowledged is lost (R1, R4, R5, R6, R11, V12).
 *
 * Leases are short for volume; a few kills with the real lease of 15 s time the promise of R11.
 */
import pg from 'pg'
import { PgProxy, randomCut } from '../../support/pg-proxy.ts'
import { type Cluster, startPostgres } from '../../support/postgres.ts'
import { pause, until } from '../../support/until.ts'
import { postgresVersion } from '../census.ts'
import { Life } from '../kill/life.ts'
import type { Query } from '../kill/orders.ts'
import { noteRecoveries } from '../kill/recovery.ts'
import { bringToRest, judgeShop, type Scene, withScene } from '../kill/scene.ts'
import { type Findings, type StageReport, skipped } from './report.ts'

export interface KillPostgresOptions {
  readonly kills: number
  readonly stops: number
  /** Kills with the real lease, in each of the groups that run side by side. */
  readonly timedKills: number
  readonly seed: number
}

const NAME = 'kill postgres'
const WORKERS = 3
const MAX_LIFE_MS = 200
const MAX_BACKLOG = 60
const MAX_NEW_ORDERS = 5
const CUT_PROBABILITY = 0.5
const SHORT_LEASE_MS = 2_000
const REAL_LEASE_MS = 15_000
/** Lease, sweep and poll (R11). */
const TAKEOVER_LIMIT_MS = 16_000
const TIMED_GROUPS = 2
/** Every kill is followed by the next one at once, but for these, which wait until everything was taken over. */
const WATCHED_EVERY = 10

interface Ground {
  readonly scene: Scene
  readonly url: string
  readonly schema: string
  readonly leaseTtlMs: number
  /** Between the workers and the server; the judge goes straight to it. */
  readonly proxy: PgProxy
  readonly pool: pg.Pool
}

const beBorn = async ({ scene, url, schema, leaseTtlMs, proxy }: Ground): Promise<Life> => {
  proxy.disarm()
  const life = new Life({ database: url, schema, leaseTtlMs, world: scene.world, isHasty: false }, scene.client)
  await life.ready()
  return life
}

const someWork = async ({ scene, proxy }: Ground, life: Life): Promise<void> => {
  const { client, random } = scene
  if (random.chance(CUT_PROBABILITY)) proxy.arm(randomCut(random))
  life.tell({ kind: 'count' })
  if ((await life.ready()) < MAX_BACKLOG) {
    for (let order = 0; order <= random.below(MAX_NEW_ORDERS); order++) client.placeOrder()
  }
  life.deliver(false)
  await life.acknowledged()
}

/** Milliseconds until every run that is leased now has moved on: written to, taken by another, or given back. */
const takeover = async ({ pool, leaseTtlMs }: Ground): Promise<number> => {
  const startedAt = performance.now()
  const { rows } = await pool.query<{ id: string; version: string; epoch: string }>(
    'select id, version, epoch from stream where lease is not null',
  )
  const sql = `select count(*)::int as n from stream s join unnest($1::uuid[], $2::bigint[], $3::bigint[]) as t(id, version, epoch)
    on s.id = t.id and s.version = t.version and s.epoch = t.epoch where s.lease is not null`
  const values = [rows.map((row) => row.id), rows.map((row) => row.version), rows.map((row) => row.epoch)]
  const left = async (): Promise<number> => (await pool.query<{ n: number }>(sql, values)).rows[0]?.n ?? 0
  await until(left, (count) => count === 0, {
    timeoutMs: leaseTtlMs + TAKEOVER_LIMIT_MS,
    everyMs: 50,
    what: 'a takeover of every run that was leased',
  })
  return performance.now() - startedAt
}

/** Kills one of the workers and lets another be born in its place. Answers the time of the takeover if it was watched. */
const killOne = async (ground: Ground, workers: Life[], isWatched: boolean): Promise<number | null> => {
  const { random, findings } = ground.scene
  const index = random.below(workers.length)
  const victim = workers[index] as Life
  await someWork(ground, victim)
  await pause(random.below(MAX_LIFE_MS + 1))
  if (victim.isOver) findings.violation(`a worker ended by itself: ${victim.complaint}`)
  await victim.kill()
  findings.fault('kill')
  const takenOver = isWatched ? await takeover(ground) : null
  workers[index] = await beBorn(ground)
  return takenOver
}

/** Stops one of the workers for longer than its lease, and lets it go on: what it still holds in memory is no longer its own. */
const stopOne = async (ground: Ground, workers: readonly Life[]): Promise<number> => {
  const { random, findings } = ground.scene
  const victim = random.pick(workers)
  await someWork(ground, victim)
  victim.signal('SIGSTOP')
  const takenOver = await takeover(ground)
  await pause(random.below(MAX_LIFE_MS))
  victim.signal('SIGCONT')
  findings.fault('stop')
  return takenOver
}

const withGround = async <Result>(
  cluster: Cluster,
  options: { readonly schema: string; readonly leaseTtlMs: number; readonly seed: number },
  work: (ground: Ground, workers: Life[]) => Promise<Result>,
): Promise<Findings> =>
  withScene(options.seed, async (scene) => {
    const { schema, leaseTtlMs } = options
    const pool = new pg.Pool({ connectionString: cluster.url, options: `-c search_path=${schema}`, max: 2 })
    pool.on('error', () => {})
    const proxy = new PgProxy(cluster.url, '')
    const ground: Ground = { scene, url: await proxy.open(), schema, leaseTtlMs, proxy, pool }
    const workers: Life[] = []
    try {
      for (let born = 0; born < WORKERS; born++) workers.push(await beBorn(ground))
      await work(ground, workers)
      for (const times of proxy.fired.values()) scene.findings.fault('cut', times)
      await bringToRest(scene, workers)
      await scene.close()
      const query: Query = async (sql) => (await pool.query(sql)).rows
      await judgeShop(scene, { url: cluster.url, schema }, query)
      return scene.findings
    } finally {
      await Promise.all(workers.map((life) => life.kill()))
      await proxy.close()
      await pool.end()
    }
  })

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

export const runKillPostgres = async (options: KillPostgresOptions): Promise<StageReport> => {
  let cluster: Cluster
  try {
    cluster = await startPostgres()
  } catch (error) {
    return skipped(NAME, 'pg', error instanceof Error ? error.message : String(error))
  }
  try {
    return await perform(cluster, options)
  } finally {
    await cluster.stop()
  }
}
