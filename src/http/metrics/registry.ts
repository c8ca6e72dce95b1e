/**
 * The metrics in the format of Prometheus. prom-client is loaded when they are first asked for.
 *
 * Owns the translation of a tally and of readings into metrics of prom-client. Counts nothing itself.
 */
import type { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { COUNTED, type CountedName, GAUGES, type GaugeName, type MetricSpec, PREFIX, type Reading } from './table.ts'
import type { Series, Tally } from './tally.ts'

type Package = { Counter: typeof Counter; Gauge: typeof Gauge; Histogram: typeof Histogram; Registry: typeof Registry }

export interface Shown {
  readonly text: string
  readonly contentType: string
}

const named = (spec: MetricSpec, labels: readonly string[]): Record<string, string> =>
  Object.fromEntries(spec.labels.map((name, i) => [name, labels[i] ?? '']))

const configOf = (name: string, { help, labels }: MetricSpec) => ({
  name: `${PREFIX}${name}`,
  help,
  labelNames: [...labels],
  registers: [],
})

type Sample = { readonly labels: Record<string, string | number>; readonly value: number; readonly metricName: string }

/** Buckets are cumulative: each one counts the values up to its bound, those of the buckets before it included. */
const samplesOf = (name: string, spec: MetricSpec, { labels, count, sum, under }: Series): readonly Sample[] => {
  const own = named(spec, labels)
  let below = 0
  const buckets = (spec.bounds ?? []).map((bound, i) => {
    below += under[i] ?? 0
    return { labels: { le: bound, ...own }, value: below, metricName: `${name}_bucket` }
  })
  return [
    ...buckets,
    { labels: { le: '+Inf', ...own }, value: count, metricName: `${name}_bucket` },
    { labels: own, value: sum, metricName: `${name}_sum` },
    { labels: own, value: count, metricName: `${name}_count` },
  ]
}

/** A histogram whose buckets are those of the tally. */
const histogramOf = (prom: Package, name: CountedName, spec: MetricSpec, tally: Tally): Histogram => {
  const config = configOf(name, spec)
  const empty = new prom.Histogram(config)
  const shown = async (): ReturnType<Histogram['get']> => ({
    ...(await empty.get()),
    values: tally.read(name).flatMap((series) => samplesOf(config.name, spec, series)),
  })
  class Tallied extends prom.Histogram {
    override get(): ReturnType<Histogram['get']> {
      return shown()
    }
    /** The registry calls this method in preference to `get`. */
    getForPromString(): ReturnType<Histogram['get']> {
      return shown()
    }
  }
  return new Tallied(config)
}

const counterOf = (prom: Package, name: CountedName, spec: MetricSpec, tally: Tally): Counter =>
  new prom.Counter({
    ...configOf(name, spec),
    collect() {
      this.reset()
      for (const { labels, sum } of tally.read(name)) this.inc(named(spec, labels), sum * (spec.unit ?? 1))
    },
  })

const gaugeOf = (prom: Package, name: GaugeName, spec: MetricSpec, readings: () => readonly Reading[]): Gauge =>
  new prom.Gauge({
    ...configOf(name, spec),
    collect() {
      this.reset()
      for (const { metric, labels, value } of readings()) if (metric === name) this.set(named(spec, labels), value)
    },
  })

const open = async (tally: Tally, readings: () => readonly Reading[]): Promise<Registry> => {
  const { default: prom } = await import('prom-client')
  const registry = new prom.Registry()
  for (const [name, spec] of Object.entries<MetricSpec>(COUNTED)) {
    const make = spec.bounds === undefined ? counterOf : histogramOf
    registry.registerMetric(make(prom, name as CountedName, spec, tally))
  }
  for (const [name, spec] of Object.entries<MetricSpec>(GAUGES))
    registry.registerMetric(gaugeOf(prom, name as GaugeName, spec, readings))
  return registry
}

/** Shows the current tally together with what was read from the ledger. */
export const exposition = (tally: Tally): ((readings: readonly Reading[]) => Promise<Shown>) => {
  let current: readonly Reading[] = []
  let opening: Promise<Registry> | null = null
  return async (readings) => {
    opening ??= open(tally, () => current)
    const registry = await opening
    current = readings
    return { text: await registry.metrics(), contentType: registry.contentType }
  }
}
