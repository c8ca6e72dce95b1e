/**
 * W3: the time from an event to the start of its handler in an idle system. On Postgres the sender is another process, and Restate may be
 * the dispatcher.
 */
import { atMost, type Measurement, median, percentile } from '../report.ts'
import { type BenchLedger, open, startChild } from '../target.ts'

const EVENTS = 200
const WARM_UP = 40

const figures = (ledger: BenchLedger, times: readonly number[]): readonly Measurement[] => [
  {
    metric: 'event sent to handler begun, p50',
    value: median(times),
    unit: 'ms',
    raw: ledger.raw.commitMs,
    target: ledger.kind === 'sqlite' ? atMost(6, 'ratio') : atMost(4),
  },
  { metric: 'event sent to handler begun, p99', value: percentile(times, 0.99), unit: 'ms', raw: ledger.raw.commitMs },
]

const now = (): number => performance.timeOrigin + performance.now()

const embedded = async (ledger: BenchLedger): Promise<readonly number[]> => {
  const place = ledger.fresh()
  const times: number[] = []
  let sentAt = 0
  let begun: () => void = () => {}
  const mark = (): void => {
    times.push(performance.now() - sentAt)
    begun()
  }
  const app = await open(place, { mark })
  for (let n = 0; n < EVENTS + WARM_UP; n++) {
    const seen = new Promise<void>((resolve) => {
      begun = resolve
    })
    sentAt = performance.now()
    const receipt = await app.send({ type: 'run.idle', data: { n } })
    await seen
    const [run] = receipt.runs
    if (run !== undefined) await app.result(run)
  }
  await app.close()
  await place.remove()
  return times.slice(WARM_UP)
}

/** The worker reports when the handler started; both processes read the same machine's clock. */
const acrossProcesses = async (ledger: BenchLedger): Promise<readonly number[]> => {
  const place = ledger.fresh()
  const worker = startChild('worker', place)
  await worker.line('ready')
  const app = await open(place, undefined, { work: false })
  const times: number[] = []
  for (let n = 0; n < EVENTS + WARM_UP; n++) {
    const sentAt = now()
    await app.send({ type: 'run.idle', data: { n } })
    const { text } = await worker.line(`begun ${n} `)
    times.push(Number(text.split(' ')[2]) - sentAt)
    await worker.line(`ended ${n}`)
  }
  await app.close()
  await worker.kill()
  await place.remove()
  return times.slice(WARM_UP)
}

/** The same with Restate between the two processes. Shown without a bound, because Restate writes to its own disk first. */
export const idleLatencyOnRestate = async (ledger: BenchLedger): Promise<readonly Measurement[]> =>
  figures(ledger, await acrossProcesses(ledger)).map(({ target, ...measurement }) => ({
    ...measurement,
    metric: measurement.metric.replace(',', ', restate,'),
  }))

export const idleLatency = async (ledger: BenchLedger): Promise<readonly Measurement[]> =>
  figures(ledger, await (ledger.kind === 'sqlite' ? embedded(ledger) : acrossProcesses(ledger)))
