/**
 * W5: one run of 2,000 steps with 500 B each. Measures whether a step costs more at the end, and how soon the run resumes after kill -9.
 *
 * On Postgres a killed worker keeps its runs until its lease expires, so the second process starts after that.
 */
import { atMost, type Measurement } from '../report.ts'
import { type BenchLedger, startChild } from '../target.ts'

const STEPS = 2_000
const EDGE = 100
const RESUMED_MS = { sqlite: 300, postgres: 500 } as const
const LEASE_MS = 1_000
/** The first worker's last heartbeat may be just before its death. */
const LEASE_OVER_MS = 1_500

export const longRun = async (ledger: BenchLedger): Promise<readonly Measurement[]> => {
  const place = ledger.fresh()
  const first = startChild('long', place, [String(STEPS)], { BENCH_HANG: '1', BENCH_LEASE_MS: String(LEASE_MS) })
  const { text } = await first.line('last')
  await first.kill()
  const times = JSON.parse(text.slice('last '.length)) as number[]
  const spent = (from: number, to: number): number => (times[to] ?? 0) - (times[from] ?? 0)
  // The first hundred steps include the compiler's warm-up; the second hundred do not.
  const early = spent(EDGE, 2 * EDGE)
  const late = spent(STEPS - EDGE, STEPS)
  if (ledger.kind === 'postgres') await new Promise((resolve) => setTimeout(resolve, LEASE_OVER_MS))
  const second = startChild('boot', place, [], { BENCH_LEASE_MS: String(LEASE_MS) })
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
