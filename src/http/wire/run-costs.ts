/**
 * The cost of a run: the median and the 95th percentile of completed runs, and the wasted cost of the others.
 *
 * Owns the summary. Pure: the costs of runs are read by cost-totals.ts, their statuses by the caller.
 */
import type { RunId } from '#model/kernel/ids.ts'
import { isEnded, type RunStatus } from '#model/run/status.ts'

/** The cost of one run within the requested days. */
export interface RunSpent {
  readonly run: RunId
  readonly micros: number
  readonly unpricedCalls: number
}

export interface RunCosts {
  /** Runs that completed, with all prices known. */
  readonly finished: number
  readonly p50: number | null
  readonly p95: number | null
  readonly failed: number
  /** Micro-dollars of runs that ended without completing. */
  readonly wasted: number
  readonly unpriced: number
  readonly open: number
}

const GOOD: ReadonlySet<RunStatus> = new Set(['success', 'partial'])

/** The smallest amount that this share of the amounts does not exceed; null: there are none. */
export const percentile = (amounts: readonly number[], share: number): number | null => {
  const sorted = amounts.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null
}

/** A run without a status does not exist any more and is left out. */
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
