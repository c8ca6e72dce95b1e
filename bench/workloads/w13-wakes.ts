/**
 * W13: runs that each wait for their own value of one event type. Measures how soon all are resumed, and the cost of one wake among very
 * many other events of the type.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Trihand } from '#compose/assemble.ts'
import { atMost, type Measurement, median } from '../report.ts'
import { type BenchLedger, open, untilReported } from '../target.ts'

const RUNS = 10_000
/** Concurrent sends. */
const CHUNK = 1_000
const SECONDS = 2
const TIMES = 3
const OTHERS = 300_000
const OTHERS_QUICKLY = 30_000
/** The number of rounds; the result is their median. */
const WAKES = 25
const WARM_UP = 100

const sendAll = async (app: Trihand, type: string, from: number, count: number): Promise<void> => {
  for (let first = from; first < from + count; first += CHUNK) {
    const size = Math.min(CHUNK, from + count - first)
    await Promise.all(Array.from({ length: size }, (_, i) => app.send({ type, data: { id: first + i } })))
  }
}

const parked = async (app: Trihand, from: number, count: number): Promise<void> => {
  const waiting = untilReported(app, 'waiting', count)
  await sendAll(app, 'run.seek', from, count)
  await waiting
}

export const wokenByValue = async (ledger: BenchLedger): Promise<readonly Measurement[]> => {
  const place = ledger.fresh()
  const app = await open(place)
  await parked(app, 0, RUNS)
  const resumed = untilReported(app, 'success', RUNS)
  const since = performance.now()
  await sendAll(app, 'seek.found', 0, RUNS)
  await resumed
  const seconds = (performance.now() - since) / 1_000
  await app.close()
  await place.remove()
  const metric = `seconds to resume ${RUNS} runs by as many events, each by its value`
  return [{ metric, value: seconds, unit: 's', target: atMost(SECONDS) }]
}

interface Cost {
  readonly ms: number
  readonly bytes: number
}

const collect = (): (() => void) => {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
}

/** Measures from the event to the end of the run, and how far the heap grows meanwhile. */
const wakesOf = async (app: Trihand, gc: () => void, from: number): Promise<Cost> => {
  const costs: Cost[] = []
  for (let id = from; id < from + WAKES; id++) {
    const done = untilReported(app, 'success', 1)
    gc()
    const before = process.memoryUsage().heapUsed
    const since = performance.now()
    await app.send({ type: 'seek.found', data: { id } })
    await done
    costs.push({ ms: performance.now() - since, bytes: process.memoryUsage().heapUsed - before })
  }
  return { ms: median(costs.map(({ ms }) => ms)), bytes: median(costs.map(({ bytes }) => bytes)) }
}

export const besideOthers = async (ledger: BenchLedger, isQuick: boolean): Promise<readonly Measurement[]> => {
  const others = isQuick ? OTHERS_QUICKLY : OTHERS
  const place = ledger.fresh()
  const app = await open(place)
  const gc = collect()
  await parked(app, 0, WARM_UP + 2 * WAKES)
  const warm = untilReported(app, 'success', WARM_UP)
  await sendAll(app, 'seek.found', 0, WARM_UP)
  await warm
  const alone = await wakesOf(app, gc, WARM_UP)
  await sendAll(app, 'seek.found', RUNS, others)
  const beside = await wakesOf(app, gc, WARM_UP + WAKES)
  await app.close()
  await place.remove()
  const metric = `of a wake beside ${others} other events of its type ÷ beside ${WARM_UP}`
  return [
    { metric: `time ${metric}`, value: beside.ms / alone.ms, unit: '×', target: atMost(TIMES) },
    { metric: `memory ${metric}`, value: beside.bytes / alone.bytes, unit: '×', target: atMost(TIMES) },
    { metric: `one wake beside ${others} other events`, value: beside.ms, unit: 'ms' },
  ]
}
