/** Recovery times for the report: the median and a high percentile. A time above the limit is a violation of R11. */
import type { Findings } from '#test/chaos/stages/report.ts'

const percentile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
}

export const noteRecoveries = (
  what: string,
  values: readonly number[],
  limitMs: number | null,
  findings: Findings,
): void => {
  const p99 = percentile(values, 0.99)
  findings.note(`${what}: p50 ${percentile(values, 0.5)} ms, p99 ${p99} ms of ${values.length}`)
  if (limitMs !== null && p99 > limitMs) findings.violation(`R11 ${what}: p99 is ${p99} ms, above ${limitMs}`)
}
