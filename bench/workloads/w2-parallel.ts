/**
 * W2: 1,000 runs of 10 trivial steps at once, from the first event sent to the last run ended: in an application's own process, and with
 * the V8 setting of `trihand dev|start|worker` (`tuneProcess`). That setting lasts for the life of a process, so it is measured last.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Trihand } from '#compose/assemble.ts'
import { atLeast, atMost, type Measurement, median } from '../report.ts'
import { type BenchLedger, open, untilReported } from '../target.ts'

const RUNS = 1_000
const STEPS = 10
/** Warm-up rounds of some 10,000 steps each: the rate rises over the first five or six while the compiler works. */
const WARM_UP = 8
/** The number of measured rounds; the result is their median, because one round is as short as a pause of the machine. */
const MEASURED = 5
const MUST = { sqlite: 0.35, postgres: 0.15 } as const

const allAtOnce = async (app: Trihand): Promise<number> => {
  const done = untilReported(app, 'success', RUNS)
  const from = performance.now()
  await Promise.all(Array.from({ length: RUNS }, (_, i) => app.send({ type: 'run.many', data: { i } })))
  await done
  return (performance.now() - from) / 1_000
}

export const parallelRuns = async (ledger: BenchLedger, ledgerKey = ''): Promise<readonly Measurement[]> => {
  if (ledger.kind === 'postgres') return stepsAtOnce(ledger, { ledgerKey })
  const embedded = await stepsAtOnce(ledger, { ledgerKey })
  const served = await stepsAtOnce(ledger, { ledgerKey, tuneProcess: true })
  return [...embedded.map((one) => ({ ...one, metric: `${one.metric}, embedded` })), ...served]
}

export const stepsAtOnce = async (
  ledger: BenchLedger,
  options: { readonly ledgerKey: string; readonly tuneProcess?: boolean },
): Promise<readonly Measurement[]> => {
  const place = ledger.fresh()
  const app = await open(place, undefined, options)
  // A serving process is warm, so the measurement is of its steady rate.
  for (let i = 0; i < WARM_UP; i++) await allAtOnce(app)
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const seconds: number[] = []
  for (let i = 0; i < MEASURED; i++) seconds.push(await allAtOnce(app))
  delay.disable()
  await app.close()
  await place.remove()
  const perSecond = (RUNS * STEPS) / median(seconds)
  const loop = { metric: 'event-loop delay, p99', value: delay.percentile(99) / 1e6, unit: 'ms' }
  return [
    {
      metric: 'steps per second',
      value: perSecond,
      unit: 'steps/s',
      raw: ledger.raw.rowsPerSecond,
      target: atLeast(MUST[ledger.kind], 'ratio'),
    },
    ledger.kind === 'sqlite' ? { ...loop, target: atMost(25) } : loop,
  ]
}
