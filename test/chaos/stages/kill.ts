/**
 * Kill -9 on one process and one SQLite file: it dies 0 to 200 ms after its first acknowledgement, again and again. Nothing
 * acknowledged is lost, `once` effects happen at most once, and the next process continues by itself (R1, R2, R5, R6, R7, R11).
 *
 * The control acknowledges before it is safe, and must lose orders.
 */
import { join } from 'node:path'
import { damage, sqliteVersion } from '#test/chaos/census.ts'
import { Life } from '#test/chaos/kill/life.ts'
import { lostOrders } from '#test/chaos/kill/orders.ts'
import { noteRecoveries } from '#test/chaos/kill/recovery.ts'
import { bringToRest, judgeShop, type Scene, withScene } from '#test/chaos/kill/scene.ts'
import { queryFile } from '#test/chaos/query.ts'
import { pause } from '#test/support/until.ts'
import type { Control, Findings, StageReport } from './report.ts'

export interface KillOptions {
  readonly kills: number
  readonly controlKills: number
  readonly seed: number
}

const NAME = 'kill'
const MAX_LIFE_MS = 200
const MAX_BACKLOG = 60
const MAX_NEW_ORDERS = 6
const RECOVERY_LIMIT_MS = 2_000
const LEASE_TTL_MS = 15_000

const fileOf = (scene: Scene): string => join(scene.folder, 'ledger.db')

const beBorn = (scene: Scene, isHasty: boolean): Life =>
  new Life({ database: fileOf(scene), leaseTtlMs: LEASE_TTL_MS, world: scene.world, isHasty }, scene.client)

/** From the start of a process to its death. */
const liveAndDie = async (scene: Scene, isHasty: boolean): Promise<Life> => {
  const { client, random, findings } = scene
  const life = beBorn(scene, isHasty)
  const backlog = await life.ready()
  if (backlog < MAX_BACKLOG) for (let order = 0; order <= random.below(MAX_NEW_ORDERS); order++) client.placeOrder()
  life.deliver(false)
  await life.acknowledged()
  await pause(random.below(MAX_LIFE_MS + 1))
  if (life.isOver) findings.violation(`the process ended by itself: ${life.complaint}`)
  await life.kill()
  findings.fault('kill')
  return life
}

const killSeries = (kills: number, seed: number): Promise<Findings> =>
  withScene(seed, async (scene) => {
    const { findings, close } = scene
    const lives: Life[] = []
    for (let killed = 0; killed < kills; killed++) lives.push(await liveAndDie(scene, false))
    const last = beBorn(scene, false)
    await last.ready()
    await bringToRest(scene, [last])
    await close()
    const firsts = lives.map((life) => (life.firstAcknowledgedAt ?? 0) - life.startedAt)
    noteRecoveries('from the start of Node to the first acknowledgement', firsts, null, findings)
    const recoveries = lives.map((life) => life.recoveryMs)
    noteRecoveries('from opening the ledger to serving', recoveries, RECOVERY_LIMIT_MS, findings)
    const broken = damage(fileOf(scene))
    if (broken !== null) findings.violation(`the file is damaged: ${broken}`)
    await judgeShop(scene, { file: fileOf(scene) }, queryFile(fileOf(scene)))
    return findings
  })

const control = (kills: number, seed: number): Promise<Control> =>
  withScene(seed, async (scene) => {
    for (let killed = 0; killed < kills; killed++) await liveAndDie(scene, true)
    await scene.close()
    const { acknowledged } = scene.client
    const lost = await lostOrders(queryFile(fileOf(scene)), acknowledged)
    return { name: 'kill-hasty-receipt', must: 'lose', lost_in: lost.length, of: acknowledged.size }
  })

export const runKill = async ({ kills, controlKills, seed }: KillOptions): Promise<StageReport> => {
  const findings = await killSeries(kills, seed)
  findings.version('sqlite', sqliteVersion())
  return findings.report(NAME, ['kill', 'effect'], [await control(controlKills, seed)])
}
