/**
 * Counters as plain numbers, so that they cost next to nothing in a process whose metrics are never read.
 *
 * Owns the sums and the limit on label values. Never knows how they are shown (registry.ts).
 *
 * tally-1  A label has at most 200 values; further ones are counted as `other`.
 */
import { COUNTED, type CountedName, type MetricSpec, MOST_VALUES, OTHER, type Tick } from './table.ts'

export interface Series {
  readonly labels: readonly string[]
  /** For a distribution: the number of its values, and how many fell into each bucket (not cumulative). */
  count: number
  sum: number
  readonly under: number[]
}

interface Kept {
  readonly spec: MetricSpec
  readonly series: Map<string, Series>
  readonly known: readonly Set<string>[]
}

const SEPARATOR = '\u0000'

const kept = (spec: MetricSpec): Kept => ({ spec, series: new Map(), known: spec.labels.map(() => new Set<string>()) })

/** tally-1. */
const bounded = ({ known }: Kept, labels: readonly string[]): readonly string[] =>
  labels.map((value, i) => {
    const values = known[i]
    if (values === undefined || values.has(value)) return value
    if (values.size >= MOST_VALUES) return OTHER
    values.add(value)
    return value
  })

export class Tally {
  private readonly metrics = new Map<CountedName, Kept>(
    Object.entries(COUNTED).map(([name, spec]) => [name as CountedName, kept(spec)]),
  )

  add(ticks: readonly Tick[]): void {
    for (const { metric, labels, value } of ticks) this.count(metric, labels, value)
  }

  read(metric: CountedName): readonly Series[] {
    return [...(this.metrics.get(metric)?.series.values() ?? [])]
  }

  private count(metric: CountedName, given: readonly string[], value: number): void {
    const found = this.metrics.get(metric)
    if (found === undefined) return
    const series = this.seriesOf(found, given)
    series.count += 1
    series.sum += value
    const under = found.spec.bounds?.findIndex((bound) => value <= bound) ?? -1
    if (under >= 0) series.under[under] = (series.under[under] ?? 0) + 1
  }

  private seriesOf(found: Kept, given: readonly string[]): Series {
    const key = given.join(SEPARATOR)
    const known = found.series.get(key)
    if (known !== undefined) return known
    const labels = bounded(found, given)
    const bounds = found.spec.bounds ?? []
    const last = labels.join(SEPARATOR)
    const series = found.series.get(last) ?? { labels, count: 0, sum: 0, under: bounds.map(() => 0) }
    found.series.set(last, series)
    return series
  }
}
