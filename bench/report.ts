/**
 * Defines a measurement: a value beside a raw limit of the same run, the bound that it must keep, and whether it keeps it.
 *
 * Owns medians, percentiles, the table and the JSON document. Never measures.
 */
import { cpus } from 'node:os'

export type LedgerKind = 'sqlite' | 'postgres'

/** `of: ratio` bounds value ÷ raw, `of: value` bounds the value itself. */
export interface Target {
  readonly of: 'ratio' | 'value'
  readonly is: 'at_most' | 'at_least'
  readonly bound: number
}

export interface Result {
  readonly workload: string
  readonly ledger: LedgerKind
  readonly metric: string
  readonly value: number
  readonly unit: string
  readonly raw: number | null
  readonly ratio: number | null
  readonly target: Target | null
  readonly holds: boolean | null
}

export interface Measurement {
  readonly metric: string
  readonly value: number
  readonly unit: string
  readonly raw?: number
  readonly target?: Target
}

export const atMost = (bound: number, of: Target['of'] = 'value'): Target => ({ of, is: 'at_most', bound })
export const atLeast = (bound: number, of: Target['of'] = 'value'): Target => ({ of, is: 'at_least', bound })

export const median = (values: readonly number[]): number => percentile(values, 0.5)

export const percentile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export const judge = (workload: string, ledger: LedgerKind, measurement: Measurement): Result => {
  const { metric, value, unit, raw = null, target = null } = measurement
  const ratio = raw === null ? null : value / raw
  return {
    workload,
    ledger,
    metric,
    value,
    unit,
    raw,
    ratio,
    target,
    holds: target === null ? null : keeps(target, value, ratio),
  }
}

const keeps = (target: Target, value: number, ratio: number | null): boolean => {
  const figure = target.of === 'ratio' ? (ratio ?? Number.NaN) : value
  return target.is === 'at_most' ? figure <= target.bound : figure >= target.bound
}

/** A round is judged by its value relative to the raw limit measured right before it, or by the value alone if there is no limit. */
const figureOf = ({ value, raw }: Measurement): number => (raw === undefined ? value : value / raw)

/**
 * Combines the rounds of one measurement: takes the whole median round of each metric, so that its value and its raw limit belong together.
 */
export const overRounds = (rounds: readonly (readonly Measurement[])[]): readonly Measurement[] =>
  (rounds[0] ?? []).map((first) => {
    const same = rounds.flatMap((round) => round.filter((measurement) => measurement.metric === first.metric))
    const middle = median(same.map(figureOf))
    return same.find((measurement) => figureOf(measurement) === middle) ?? first
  })

const short = (value: number): string =>
  value >= 1_000 ? Math.round(value).toLocaleString('en') : value.toPrecision(value >= 100 ? 4 : 3)

const targetText = ({ target, unit }: Result): string => {
  if (target === null) return ''
  return `${target.is === 'at_most' ? '≤' : '≥'} ${short(target.bound)} ${target.of === 'ratio' ? '× raw' : unit}`
}

export const row = (result: Result): string => {
  const verdict = result.holds === null ? '' : result.holds ? 'holds' : 'FAILS'
  const ratio = result.ratio === null ? '' : `${short(result.ratio)} × raw (${short(result.raw ?? 0)})`
  const cells = [
    result.workload,
    result.ledger,
    result.metric,
    `${short(result.value)} ${result.unit}`,
    ratio,
    targetText(result),
    verdict,
  ]
  return cells
    .map((cell, i) => cell.padEnd([4, 9, 42, 16, 24, 18, 6][i] ?? 0))
    .join(' ')
    .trimEnd()
}

export const document = (results: readonly Result[], rounds: number): string =>
  JSON.stringify(
    { node: process.version, cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, rounds, results },
    null,
    2,
  )
