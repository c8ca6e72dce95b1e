/**
 * What a run costs: of those that ended well the middle and the expensive ones, of the others what they wasted.
 *
 * Owns the summing up. Pure: which runs were paid for is read by costs.ts, how each ended by whoever asks.
 */
import type { RunId } from '#model/kernel/ids.ts'
import { isEnded, type RunStatus } from '#model/run/status.ts'

/** What one run has paid in the days that were asked for. */
export interface RunSpent {
  readonly run: RunId
  readonly micros: number
  readonly unpricedCalls: number
}

export interface RunCosts {
  /** Runs that ended well and whose every price is known. */
  readonly finished: number
  readonly p50: number | null
  readonly p95: number | null
  readonly failed: number
  /** Micro-dollars of runs that ended otherwise. */
  readonly wasted: number
  readonly unpriced: number
  readonly open: number
}

const GOOD: ReadonlySet<RunStatus> = new Set(['success', 'partial'])

/** The smallest amount that this share of them does not exceed; null: there are none. */
export const percentile = (amounts: readonly number[], share: number): number | null => {
  const sorted = amounts.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null
}

/** A run without a status is gone. */
export const runCosts = (spent: readonly RunSpent[], statusOf: (run: RunId) => RunStatus | null): RunCosts => {
  const known = spent.flatMap((one) => {
    const status = statusOf(one.run)
    return status === null ? [] : [{ ...one, status }]
  })
  const good = known.filter(({ status }) => GOOD.has(status))
  const bad = known.filter(({ status }) => isEnded(status) && !GOOD.has(status))
  const priced = good.filter(({ unpricedCalls }) => unpricedCalls === 0).map(({ micros }) => micros)
  return {
    finished: priced.length,
    p50: percentile(priced, 0.5),
    p95: percentile(priced, 0.95),
    failed: bad.length,
    wasted: bad.reduce((sum, { micros }) => sum + micros, 0),
    unpriced: [...good, ...bad].filter(({ unpricedCalls }) => unpricedCalls > 0).length,
    open: known.length - good.length - bad.length,
  }
}
