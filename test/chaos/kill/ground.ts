/**
 * Several workers that share one Postgres ledger, over connections that are cut; some workers are killed or stopped. The basis of a stage.
 *
 * Owns start, work, death and takeover of workers. What is counted and for how long is up to the stage.
 */
import pg from 'pg'
import type { Query } from '#test/chaos/query.ts'
import type { Findings } from '#test/chaos/stages/report.ts'
import { PgProxy, randomCut } from '#test/support/stores/pg-proxy.ts'
import type { Cluster } from '#test/support/stores/postgres.ts'
import { pause, until } from '#test/support/until.ts'
import type { ChildInput } from './child.ts'
import { Life } from './life.ts'
import { bringToRest, judgeShop, type Scene, withScene } from './scene.ts'

const USUAL_WORKERS = 3
const MAX_LIFE_MS = 200
const MAX_BACKLOG = 60
const MAX_NEW_ORDERS = 5
const CUT_PROBABILITY = 0.5
/** Lease, sweep and poll (R11). */
export const TAKEOVER_LIMIT_MS = 16_000

export interface Ground {
  readonly scene: Scene
  readonly url: string
  readonly schema: string
  readonly leaseTtlMs: number
  /** The proxy between the workers and the server; the judge connects directly. */
  readonly proxy: PgProxy
  readonly pool: pg.Pool
  /** Null: the store's own dispatcher. */
  readonly restate: ChildInput['restate'] | null
}

const beBorn = async ({ scene, url, schema, leaseTtlMs, proxy, restate }: Ground): Promise<Life> => {
  proxy.disarm()
  const place = { database: url, schema, leaseTtlMs, world: scene.world, isHasty: false }
  const life = new Life({ ...place, ...(restate == null ? {} : { restate }) }, scene.client)
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

/** A run that is leased, and its version at that time. */
interface Held {
  readonly id: string
  readonly version: string
  readonly epoch: string
}

/** The row of a held run is not updated: the number of its facts shows its progress. */
const VERSION = '(select count(*) from fact where stream = s.id)'

/** Milliseconds until none of these is as `still` describes; `s` is the run now, `t` as it was. */
const untilNone = async ({ pool, leaseTtlMs }: Ground, rows: readonly Held[], still: string): Promise<number> => {
  const startedAt = performance.now()
  const sql = `select count(*)::int as n from stream s join unnest($1::uuid[], $2::bigint[], $3::bigint[]) as t(id, version, epoch)
    on s.id = t.id and ${VERSION} = t.version where ${still}`
  const values = [rows.map((row) => row.id), rows.map((row) => row.version), rows.map((row) => row.epoch)]
  const left = async (): Promise<number> => (await pool.query<{ n: number }>(sql, values)).rows[0]?.n ?? 0
  await until(left, (count) => count === 0, {
    timeoutMs: leaseTtlMs + TAKEOVER_LIMIT_MS,
    everyMs: 50,
    what: 'a takeover of every run that was leased',
  })
  return performance.now() - startedAt
}

/** Waits until every run that is leased now has moved on: written to, taken by another, or released. */
const takeover = async (ground: Ground): Promise<number> => {
  const { rows } = await ground.pool.query<Held>(
    `select id, ${VERSION} as version, epoch from stream s where lease is not null`,
  )
  return untilNone(ground, rows, 's.epoch = t.epoch and s.lease is not null')
}

/** Waits until others have taken every run that this worker holds now: freeing it raises the epoch, and so does the claim. */
export const takeoverFrom = async (ground: Ground, worker: string): Promise<number> => {
  const sql = `select id, ${VERSION} as version, epoch from stream s where lease = $1`
  const { rows } = await ground.pool.query<Held>(sql, [worker])
  return untilNone(ground, rows, 's.epoch < t.epoch + 2')
}

/** Kills one of the workers and starts another in its place. Returns the time of the takeover if it was measured. */
export const killOne = async (ground: Ground, workers: Life[], isWatched: boolean): Promise<number | null> => {
  const { random } = ground.scene
  const index = random.below(workers.length)
  const victim = workers[index] as Life
  await someWork(ground, victim)
  await pause(random.below(MAX_LIFE_MS + 1))
  return replace(ground, workers, index, () => (isWatched ? takeover(ground) : Promise.resolve(null)))
}

/** Kills this worker and starts another in its place. */
export const replace = async <Watched>(
  ground: Ground,
  workers: Life[],
  index: number,
  watch: () => Promise<Watched>,
): Promise<Watched> => {
  const victim = workers[index] as Life
  const { findings } = ground.scene
  if (victim.isOver) findings.violation(`a worker ended by itself: ${victim.complaint}`)
  await victim.kill()
  findings.fault('kill')
  const takenOver = await watch()
  workers[index] = await beBorn(ground)
  return takenOver
}

export const stopOne = async (ground: Ground, workers: readonly Life[]): Promise<number> => {
  const victim = ground.scene.random.pick(workers)
  await someWork(ground, victim)
  return suspend(ground, victim, () => takeover(ground))
}

/** Stops a worker for longer than its lease, and resumes it: it has lost the runs that it still holds in memory. */
export const suspend = async (ground: Ground, victim: Life, watch: () => Promise<number>): Promise<number> => {
  const { random, findings } = ground.scene
  victim.signal('SIGSTOP')
  const takenOver = await watch()
  await pause(random.below(MAX_LIFE_MS))
  victim.signal('SIGCONT')
  findings.fault('stop')
  return takenOver
}

export const withGround = async <Result>(
  cluster: Cluster,
  options: Pick<Ground, 'schema' | 'leaseTtlMs'> & {
    readonly seed: number
    readonly restate?: Ground['restate']
    readonly workers?: number
  },
  work: (ground: Ground, workers: Life[]) => Promise<Result>,
): Promise<Findings> =>
  withScene(options.seed, async (scene) => {
    const { schema, leaseTtlMs, restate = null } = options
    const pool = new pg.Pool({ connectionString: cluster.url, options: `-c search_path=${schema}`, max: 2 })
    pool.on('error', () => {})
    const proxy = new PgProxy(cluster.url, '')
    const ground: Ground = { scene, url: await proxy.open(), schema, leaseTtlMs, proxy, pool, restate }
    const workers: Life[] = []
    try {
      for (let born = 0; born < (options.workers ?? USUAL_WORKERS); born++) workers.push(await beBorn(ground))
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
