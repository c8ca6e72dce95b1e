/** W5: one run of 2,000 steps with 500 B each. Does a step cost more at the end, and how soon does it go on after kill -9? */
import { atMost, type Measurement } from '../report.ts'
import { type BenchLedger, startChild } from '../target.ts'

const STEPS = 2_000
const EDGE = 100
const RESUMED_MS = { sqlite: 300, postgres: 500 } as const

export const longRun = async (ledger: BenchLedger): Promise<readonly Measurement[]> => {
  const place = ledger.fresh()
  const first = startChild('long', place, [String(STEPS)], { BENCH_HANG: '1' })
  const { text } = await first.line('last')
  await first.kill()
  const times = JSON.parse(text.slice('last '.length)) as number[]
  const spent = (from: number, to: number): number => (times[to] ?? 0) - (times[from] ?? 0)
  // The first hundred pay for the compiler's warm-up; the second hundred do not.
  const early = spent(EDGE, 2 * EDGE)
  const late = spent(STEPS - EDGE, STEPS)
  const second = startChild('boot', place)
  const resumed = await second.line('last')
  await second.kill()
  await place.remove()
  return [
    {
      metric: `last ${EDGE} steps ÷ steps ${EDGE} to ${2 * EDGE}`,
      value: late / early,
      unit: '×',
      target: atMost(1.2),
    },
    {
      metric: 'process start to resumed after kill -9',
      value: resumed.at - second.startedAt,
      unit: 'ms',
      target: atMost(RESUMED_MS[ledger.kind]),
    },
  ]
}
