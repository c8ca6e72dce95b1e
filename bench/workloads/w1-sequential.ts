/** W1: one run of 200 trivial durable steps in sequence. Each result is on disk before the next step begins. */
import { atMost, type Measurement, median, percentile } from '../report.ts'
import { type BenchLedger, open } from '../target.ts'

const STEPS = 200
const MUST = { sqlite: 2.5, postgres: 3.5 } as const

export const sequentialSteps = async (ledger: BenchLedger, ledgerKey = ''): Promise<readonly Measurement[]> => {
  const place = ledger.fresh()
  const times: number[] = []
  let last = 0
  const mark = (): void => {
    const now = performance.now()
    times.push(now - last)
    last = now
  }
  const app = await open(place, { mark }, { ledgerKey })
  await app.call('steps', { steps: STEPS })
  times.length = 0
  last = performance.now()
  await app.call('steps', { steps: STEPS })
  await app.close()
  await place.remove()
  // The first interval includes the start of the run.
  const steps = times.slice(1)
  return [
    {
      metric: 'ms per step, p50',
      value: median(steps),
      unit: 'ms',
      raw: ledger.raw.commitMs,
      target: atMost(MUST[ledger.kind], 'ratio'),
    },
    { metric: 'ms per step, p99', value: percentile(steps, 0.99), unit: 'ms', raw: ledger.raw.commitMs },
  ]
}
