/**
 * Two versions of one system on one Postgres, four workers that are restarted one after another, each time as the other version.
 *
 * `pay` has other step names in each version: a run of it must be performed under the names of one version only (model/worker/pin.ts). `ship`
 * waits for an event that comes when the last worker of the first version has left: its runs are handed over, and no step is done
 * twice. The control gives `pay` no pin: its runs move from version to version, and the same check must detect that.
 */
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import type { RunId } from '#model/kernel/ids.ts'
import type { PinMode } from '#model/worker/pin.ts'
import { postgresVersion } from '#test/chaos/census.ts'
import type { Cluster } from '#test/support/stores/postgres.ts'
import { ask, freshSchema } from '#test/support/stores/postgres-schema.ts'
import { until } from '#test/support/until.ts'
import { onPostgres } from './on-postgres.ts'
import { type Control, Findings, type StageReport } from './report.ts'

export interface MixedFleetOptions {
  readonly runs: number
  /** How often every worker is restarted as the other version. */
  readonly rounds: number
  readonly controlRuns: number
  readonly controlRounds: number
}

const NAME = 'mixed fleet'
const WORKERS = 4
const PARTS = [1, 2, 3, 4]
const PART_MS = 150
const PATIENCE_MS = 120_000

type Version = 'v1' | 'v2'

/** Effects on the outside, by run and part, with the step names used. */
type Effects = Map<string, string[]>

const other = (version: Version): Version => (version === 'v1' ? 'v2' : 'v1')

const systemOf = (version: Version, effects: Effects, pin: PinMode): SystemSource => {
  const note = (run: string, part: string, name: string): void => {
    const key = `${run} ${part}`
    effects.set(key, [...(effects.get(key) ?? []), name])
  }
  const charge = version === 'v1' ? 'charge' : 'bill'
  const pay = fn('pay', { pin }, async ({ step, run }) => {
    for (const part of PARTS) {
      await step.run(`${charge} ${part}`, () => note(run.id, `part ${part}`, charge))
      await step.sleep(`pause ${part}`, PART_MS)
    }
  })
  const ship = fn('ship', { waits: ['sail'] }, async ({ step, run }) => {
    await step.run('pack', () => note(run.id, 'pack', version))
    await step.waitForEvent('sail', { event: 'sail' })
    await step.run('send', () => note(run.id, 'send', version))
  })
  // The code of both has the same text: the version differs by a declaration.
  return { name: `fleet-${version}`, events: { sail: null }, functions: [pay, ship] }
}

class Fleet {
  readonly effects: Effects = new Map()
  readonly runs: { readonly handler: string; readonly id: RunId }[] = []
  readonly #url: string
  readonly #pin: PinMode
  readonly #workers: { version: Version; app: Trihand }[] = []
  restarts = 0

  constructor(url: string, pin: PinMode) {
    this.#url = url
    this.#pin = pin
  }

  async open(): Promise<void> {
    for (const version of ['v1', 'v2', 'v1', 'v2'] as const)
      this.#workers.push({ version, app: await this.#join(version) })
  }

  #join(version: Version): Promise<Trihand> {
    const system = systemOf(version, this.effects, this.#pin)
    return createTrihand({ system, database: this.#url, drain: '30s', leaseTtl: '15s', slots: 400 })
  }

  /** Each worker in turn; at every moment one worker of each version lives. */
  async roll(starts: () => Promise<void>): Promise<void> {
    for (const worker of this.#workers) {
      const before = worker.app
      worker.app = await this.#join(other(worker.version))
      worker.version = other(worker.version)
      await Promise.all([starts(), before.close()])
      this.restarts++
    }
  }

  async start(handler: string, count: number): Promise<void> {
    const started = Array.from({ length: count }, (_, n) => this.#any(n).start(handler))
    for (const id of await Promise.all(started)) this.runs.push({ handler, id })
  }

  #any(n: number): Trihand {
    const { app } = this.#workers[n % this.#workers.length] ?? {}
    if (app === undefined) throw new Error('there is no worker')
    return app
  }

  /** The first version is removed for good. */
  async leave(version: Version): Promise<void> {
    for (const worker of this.#workers.filter((one) => one.version === version)) {
      await worker.app.close()
      this.#workers.splice(this.#workers.indexOf(worker), 1)
    }
  }

  async ended(handler: string): Promise<void> {
    const open = async (): Promise<number> => {
      const [row] = await ask(
        this.#url,
        `select count(*)::int as count from stream where handler = '${handler}' and status in ('queued', 'running', 'waiting', 'retrying')`,
      )
      return Number(row?.['count'] ?? 0)
    }
    const what = `the end of all runs of ${handler}`
    await until(open, (count) => count === 0, { timeoutMs: PATIENCE_MS, everyMs: 100, what })
  }

  send(type: string): Promise<unknown> {
    return this.#any(0).send({ type })
  }

  /** Every wrong result, one sentence each. */
  async judge(): Promise<{ readonly failed: readonly string[]; readonly doubled: readonly string[] }> {
    const [failed, doubled]: [string[], string[]] = [[], []]
    for (const { handler, id } of this.runs) {
      const { status } = await this.#any(0).result(id, { wait: 0 })
      if (status !== 'success') failed.push(`${handler} ${id} is ${status}`)
      for (const part of handler === 'pay' ? PARTS.map((one) => `part ${one}`) : ['pack', 'send']) {
        const names = this.effects.get(`${id} ${part}`) ?? []
        if (names.length !== 1) doubled.push(`${part} of ${handler} ${id} was done ${names.length} times: ${names}`)
      }
    }
    return { failed, doubled }
  }

  async handOvers(): Promise<number> {
    const [row] = await ask(this.#url, "select count(*)::int as count from fact where type = 'run.handed_over'")
    return Number(row?.['count'] ?? 0)
  }

  async close(): Promise<void> {
    for (const { app } of this.#workers.splice(0)) await app.close()
  }
}

/** Half of the runs are payments, half are shipments; they are started while workers come and go. */
const play = async (fleet: Fleet, runs: number, rounds: number): Promise<void> => {
  const atOnce = Math.ceil(runs / rounds / WORKERS / 2)
  const isFull = (): boolean => fleet.runs.length >= runs
  await fleet.open()
  for (let round = 0; round < rounds; round++)
    await fleet.roll(async () => {
      if (isFull()) return
      await Promise.all([fleet.start('pay', atOnce), fleet.start('ship', atOnce)])
    })
  await fleet.ended('pay')
}

const control = async (cluster: Cluster, { controlRuns, controlRounds }: MixedFleetOptions): Promise<Control> => {
  const { url, drop } = await freshSchema(cluster.url)
  const fleet = new Fleet(url, 'none')
  try {
    await play(fleet, controlRuns, controlRounds)
    await fleet.leave('v1')
    await fleet.send('sail')
    await fleet.ended('ship')
    const { doubled } = await fleet.judge()
    return {
      name: 'pay without a pin',
      must: 'lose',
      lost_in: new Set(doubled.map((sentence) => sentence.split(' was done')[0]?.split(' ').at(-1))).size,
      of: fleet.runs.length,
    }
  } finally {
    await fleet.close()
    await drop()
  }
}

const perform = async (cluster: Cluster, options: MixedFleetOptions): Promise<StageReport> => {
  const findings = new Findings()
  const { url, drop } = await freshSchema(cluster.url)
  const fleet = new Fleet(url, 'soft')
  try {
    await play(fleet, options.runs, options.rounds)
    const before = await fleet.handOvers()
    await fleet.leave('v1')
    await fleet.send('sail')
    await fleet.ended('ship')
    const { failed, doubled } = await fleet.judge()
    const handedOver = await fleet.handOvers()
    for (const sentence of [...failed, ...doubled]) findings.violation(sentence)
    if (before > 0) findings.violation(`${before} runs were handed over while a worker of their version lived`)
    if (handedOver === 0) findings.violation('no run was handed over when the first version had left')
    findings.operations = fleet.effects.size
    findings.checks = fleet.runs.length
    findings.fault('restart', fleet.restarts)
    findings.fault('hand over', handedOver)
    findings.note(
      `${fleet.runs.length} runs, ${fleet.restarts} restarts: ${failed.length} failed, ${doubled.length} doubled, ${handedOver} handed over`,
    )
  } finally {
    await fleet.close()
    await drop()
  }
  findings.version('postgres', await postgresVersion(cluster.url))
  return findings.report(NAME, ['restart', 'hand over'], [await control(cluster, options)])
}

export const runMixedFleet = (options: MixedFleetOptions): Promise<StageReport> =>
  onPostgres(NAME, (cluster) => perform(cluster, options))
