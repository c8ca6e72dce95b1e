/**
 * W8: runs of 10 steps, sent by a process that performs nothing, performed by 1, 2 and 4 worker processes on one Postgres.
 *
 * Steps that wait 20 ms for an outside service show whether workers add up; trivial steps show the limit of the machine's cores.
 */
import type { Trihand } from '#compose/assemble.ts'
import type { Measurement } from '../report.ts'
import { type BenchLedger, open, startChild, untilCount } from '../target.ts'

interface Load {
  readonly name: string
  readonly event: string
  readonly runs: number
  /** Slots per worker: fewer than runs, so that the first worker to wake does not take them all. */
  readonly slots: number
}

const STEPS = 10
const WARM_UP = 100
const COUNTS = [1, 2, 4] as const
const LOADS: readonly Load[] = [
  { name: 'steps of 20 ms', event: 'run.call', runs: 400, slots: 16 },
  { name: 'trivial steps', event: 'run.many', runs: 2_000, slots: 64 },
]

const send = async (app: Trihand, event: string, runs: number): Promise<void> => {
  await Promise.all(Array.from({ length: runs }, (_, i) => app.send({ type: event, data: { i } })))
}

/** Measures from the first event sent to the last run ended, with warm workers. */
const stepsPerSecond = async (ledger: BenchLedger, load: Load, count: number): Promise<number> => {
  const place = ledger.fresh()
  const app = await open(place, undefined, { work: false })
  const workers = Array.from({ length: count }, () => startChild('worker', place, [String(load.slots)]))
  await Promise.all(workers.map((worker) => worker.line('ready')))
  await send(app, 'run.many', WARM_UP * count)
  await untilCount(app, 'success', WARM_UP * count)
  const from = performance.now()
  await send(app, load.event, load.runs)
  await untilCount(app, 'success', WARM_UP * count + load.runs)
  const seconds = (performance.now() - from) / 1_000
  await Promise.all(workers.map((worker) => worker.kill()))
  await app.close()
  await place.remove()
  return (load.runs * STEPS) / seconds
}

/** The raw limit of several workers is the rate of one worker in the same run. */
const measure = async (ledger: BenchLedger, load: Load): Promise<readonly Measurement[]> => {
  const measured: Measurement[] = []
  for (const count of COUNTS) {
    const value = await stepsPerSecond(ledger, load, count)
    const [alone] = measured
    const metric = `${load.name} per second, ${count} worker${count === 1 ? '' : 's'}`
    measured.push({ metric, value, unit: 'steps/s', ...(alone === undefined ? {} : { raw: alone.value }) })
  }
  return measured
}

/** An embedded ledger has one process. */
export const manyWorkers = async (ledger: BenchLedger): Promise<readonly Measurement[]> => {
  if (ledger.kind !== 'postgres') return []
  const all: Measurement[] = []
  for (const load of LOADS) all.push(...(await measure(ledger, load)))
  return all
}
