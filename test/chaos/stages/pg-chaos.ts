/**
 * Postgres chaos: commits whose answer is cut off, black holes, immediate restarts, no free connection, locks held by others. Every
 * append is there exactly once, and work continues by itself after the last fault (R1, R2, V1, V2, V30).
 *
 * Several clients share one ledger, each through its own proxy, and resend appends with unknown outcome. At the end the rows of the database
 * are compared with the answers that the clients received, append by append.
 */
import pg from 'pg'
import { compare, postgresCensus, postgresVersion } from '#test/chaos/census.ts'
import { check } from '#test/chaos/judge.ts'
import { Lane } from '#test/chaos/pg-chaos/lane.ts'
import type { Trouble } from '#test/support/insistent.ts'
import { Random } from '#test/support/random.ts'
import type { Cluster } from '#test/support/stores/postgres.ts'
import { pause, until } from '#test/support/until.ts'
import { onPostgres } from './on-postgres.ts'
import { Findings, type StageReport } from './report.ts'

export interface PgChaosOptions {
  /** Appends whose outcome was unknown to the client. */
  readonly unknowns: number
  readonly restarts: number
  readonly blackHoles: number
  /** Of each: connections used up, tables locked. */
  readonly sieges: number
  readonly seed: number
}

const NAME = 'pg chaos'
const SCHEMA = 'chaos'
const LANES = 6
const CONTROL_UNKNOWNS = 20
const PROGRESS_MS = 10_000
const CONNECTIONS = 200
/** Longer than the ledger's lock_timeout, so that it is met and not waited out. */
const LOCKED_MS = 3_500
const FAULTS = [
  ...['before', 'half', 'after', 'answered', 'black_hole', 'restart', 'no_connection', 'locked'],
  ...['unknown_append', 'was_done', 'was_not_done'],
]

interface Scene {
  readonly cluster: Cluster
  readonly lanes: readonly Lane[]
  readonly findings: Findings
}

/** V30: a client is acknowledged again soon after the fault has ended. */
const expectProgress = async ({ lanes, findings }: Scene, fault: string): Promise<void> => {
  const endedAt = performance.now()
  const newest = (): number => Math.max(...lanes.map((lane) => lane.acknowledgedAt))
  const going = until(newest, (at) => at > endedAt, { timeoutMs: PROGRESS_MS })
  await going.catch(() => findings.violation(`V30 no progress ${PROGRESS_MS} ms after ${fault}`))
  findings.fault(fault)
}

const restart = async (scene: Scene): Promise<void> => {
  await scene.cluster.crash()
  await scene.cluster.start()
  await expectProgress(scene, 'restart')
}

/** Takes every connection that the server gives, while the clients' own are being cut. */
const useUpConnections = async (scene: Scene): Promise<void> => {
  const taken: pg.Client[] = []
  for (let index = 0; index < CONNECTIONS; index++) {
    const client = new pg.Client({ connectionString: scene.cluster.url })
    client.on('error', () => {})
    try {
      await client.connect()
      taken.push(client)
    } catch {
      // Full: this is the intended state.
      break
    }
  }
  await pause(500)
  await Promise.all(taken.map((client) => client.end()))
  await expectProgress(scene, 'no_connection')
}

const lockTables = async (scene: Scene): Promise<void> => {
  const client = new pg.Client({ connectionString: scene.cluster.url })
  await client.connect()
  await client.query(`begin; lock table ${SCHEMA}.stream in access exclusive mode`)
  await pause(LOCKED_MS)
  await client.end()
  await expectProgress(scene, 'locked')
}

const misbehave = async (scene: Scene, { restarts, sieges }: PgChaosOptions): Promise<void> => {
  // A client that cannot open the ledger gives up, as it should, so faults begin when all are working.
  const opening = (): number => scene.lanes.filter((lane) => !lane.isOpen).length
  await until(opening, (count) => count === 0, { what: 'every client with an open ledger' })
  for (let done = 0; done < Math.max(restarts, sieges); done++) {
    if (done < restarts) await restart(scene)
    if (done < sieges) {
      await useUpConnections(scene)
      await lockTables(scene)
    }
  }
}

/** Every acknowledged append is there once, every refused one is not there, and nothing else is. */
const judge = async ({ cluster, lanes, findings }: Scene, schema: string): Promise<void> => {
  const pool = new pg.Pool({ connectionString: cluster.url, options: `-c search_path=${schema}` })
  const census = await postgresCensus(pool).finally(() => pool.end())
  const receipts = lanes.flatMap((lane) => lane.receipts)
  findings.operations += receipts.length
  for (const sentence of compare(census, receipts)) findings.violation(sentence)
  const acknowledged = new Set(receipts.map((receipt) => receipt.append))
  const refused = new Set(lanes.flatMap((lane) => lane.refused))
  findings.checks += new Set([...acknowledged, ...refused, ...census.appends.keys()]).size
  for (const append of census.appends.keys()) {
    if (refused.has(append)) findings.violation(`V1 append ${append} was refused and is there`)
    else if (!acknowledged.has(append)) findings.violation(`V1 append ${append} is there and nobody was told`)
  }
  for (const sentence of await check({ url: cluster.url, schema })) findings.violation(sentence)
}

const lanesFor = (cluster: Cluster, cast: Cast, findings: Findings): readonly Lane[] => {
  const random = new Random(cast.seed)
  const trouble = ({ call, outcome, code, detail }: Trouble): void => {
    findings.fault(`${outcome}_${call.replace('.', '_')}`)
    if (code === 'INTERNAL') findings.violation(`${call} answered INTERNAL: ${detail}`)
  }
  const { schema, isForgetful } = cast
  return Array.from({ length: LANES }, (_, index) => {
    const lane = new Lane({ url: cluster.url, schema, random: random.fork(), trouble, isForgetful })
    lane.blackHoles = Math.ceil((cast.blackHoles - index) / LANES)
    return lane
  })
}

interface Cast extends PgChaosOptions {
  readonly schema: string
  readonly isForgetful: boolean
}

const perform = async (cluster: Cluster, cast: Cast): Promise<Findings> => {
  const findings = new Findings()
  const lanes = lanesFor(cluster, cast, findings)
  const scene = { cluster, lanes, findings }
  const unknowns = (): number => lanes.reduce((sum, lane) => sum + lane.unknowns, 0)
  let isDone = false
  const working = Promise.all(lanes.map((lane) => lane.run(() => isDone && unknowns() >= cast.unknowns)))
  try {
    await Promise.race([misbehave(scene, cast), working])
  } finally {
    isDone = true
  }
  await working
  for (const lane of lanes) {
    for (const [kind, times] of lane.cuts) findings.fault(kind, times)
    findings.fault('was_done', lane.doubts.done)
    findings.fault('was_not_done', lane.doubts.notDone)
  }
  await judge(scene, cast.schema)
  return findings
}

const performBoth = async (cluster: Cluster, options: PgChaosOptions): Promise<StageReport> => {
  const findings = await perform(cluster, { ...options, schema: SCHEMA, isForgetful: false })
  findings.version('postgres', await postgresVersion(cluster.url))
  const few = { unknowns: CONTROL_UNKNOWNS, restarts: 0, blackHoles: 0, sieges: 0, seed: options.seed }
  const control = await perform(cluster, { ...few, schema: 'control', isForgetful: true })
  return findings.report(NAME, FAULTS, [
    { name: 'pg-chaos-new-append-id', must: 'lose', lost_in: control.violations, of: control.checks },
  ])
}

export const runPgChaos = (options: PgChaosOptions): Promise<StageReport> =>
  onPostgres(NAME, (cluster) => performBoth(cluster, options))
