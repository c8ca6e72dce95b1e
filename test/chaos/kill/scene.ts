/**
 * What outlives every killed process: the world, the customers, the evidence, and the verdict at the end.
 *
 * Owns the folder of a series of kills. Which processes live and die is up to the stage.
 */
import { join } from 'node:path'
import { type Target, verifyLedger } from '#cli/verify/verify.ts'
import type { Query } from '#test/chaos/query.ts'
import { Findings } from '#test/chaos/stages/report.ts'
import { temporaryFolder } from '#test/support/places.ts'
import { Random } from '#test/support/random.ts'
import { until } from '#test/support/until.ts'
import { backlogOf, Client } from './client.ts'
import type { Life } from './life.ts'
import { judgeOrders } from './orders.ts'
import { World } from './world.ts'

export interface Scene {
  readonly folder: string
  readonly evidence: { readonly acks: string; readonly world: string }
  readonly world: string
  readonly client: Client
  readonly random: Random
  readonly findings: Findings
  /** Ends world and customers; then the evidence is complete. */
  readonly close: () => Promise<void>
}

const QUIET_MS = 30_000
const ASK_EVERY_MS = 100

export const withScene = async <Result>(seed: number, work: (scene: Scene) => Promise<Result>): Promise<Result> => {
  const folder = temporaryFolder('kill')
  const random = new Random(seed)
  const evidence = { acks: join(folder.path, 'acks.jsonl'), world: join(folder.path, 'world.jsonl') }
  const world = new World(evidence.world, random.fork())
  const client = new Client(evidence.acks, random.fork())
  const findings = new Findings()
  const close = async (): Promise<void> => {
    findings.fault('effect', world.performed)
    await world.close()
    client.close()
  }
  try {
    return await work({ folder: folder.path, evidence, world: await world.open(), client, random, findings, close })
  } finally {
    folder.remove()
  }
}

/** V30: with everything delivered, no run is left after a while. Then a graceful end of every process. */
export const bringToRest = async ({ client, findings }: Scene, lives: readonly Life[]): Promise<void> => {
  const [first] = lives
  const isQuiet = (): boolean => {
    first?.deliver(true)
    for (const life of lives) life.tell({ kind: 'count' })
    return client.isServed && lives.every((life) => life.counts !== null && backlogOf(life.counts) === 0)
  }
  const quiet = until(isQuiet, (holds) => holds, { timeoutMs: QUIET_MS, everyMs: ASK_EVERY_MS })
  await quiet.catch(() => {
    findings.violation(`V30 not quiet ${QUIET_MS} ms after the last fault: ${JSON.stringify(first?.counts)}`)
  })
  for (const life of lives) {
    const code = await life.close()
    if (code !== 0) findings.violation(`a process closed with ${code}: ${life.complaint}`)
  }
}

/** Checks the shop's own promise, then runs the checker with what was acknowledged and what happened. */
export const judgeShop = async ({ client, findings, evidence }: Scene, target: Target, query: Query): Promise<void> => {
  for (const sentence of await judgeOrders(query, client.acknowledged)) findings.violation(sentence)
  const report = await verifyLedger(target, { evidence })
  findings.operations += client.acknowledgements
  findings.checks += Object.values(report.checked).reduce((sum, times) => sum + times, 0)
  for (const { id, stream, seq, sentence } of report.violations) {
    findings.violation(`${id} ${stream ?? '-'}/${seq ?? '-'} ${sentence}`)
  }
}
