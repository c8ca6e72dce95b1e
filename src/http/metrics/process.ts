/**
 * Metrics of this process from the operating system and Node: delay of the event loop, memory, processor time, uptime.
 *
 * Owns the one monitor of the event loop, started by its first reader. Its histogram is reset every ten seconds, so that it shows the
 * current delay.
 */
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks'
import type { Reading } from './table.ts'

const RESOLUTION_MS = 20
const WINDOW_MS = 10_000
/**
 * One late turn among few is a start or a large import, not a blocked loop: with fewer than 5 turns nothing is reported, and with fewer
 * than 100 (a loop that turns once a second) the median is used for the 99th percentile.
 */
const [FEWEST_TURNS, MANY_TURNS] = [5, 100]
const NS_IN_MS = 1e6
const US_IN_S = 1e6

export interface LoopDelay {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

const NONE: LoopDelay = { p50Ms: 0, p99Ms: 0, maxMs: 0 }

/** The delay beyond the interval of the monitor itself. */
const late = (ns: number): number => Math.max(0, ns / NS_IN_MS - RESOLUTION_MS)

export const delayOf = (histogram: Pick<IntervalHistogram, 'count' | 'max' | 'percentile'>): LoopDelay => {
  if (histogram.count < FEWEST_TURNS) return NONE
  const p50Ms = late(histogram.percentile(50))
  const p99Ms = histogram.count < MANY_TURNS ? p50Ms : late(histogram.percentile(99))
  return { p50Ms, p99Ms, maxMs: late(histogram.max) }
}

class LoopMonitor {
  private readonly histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  private last = NONE

  constructor() {
    this.histogram.enable()
    setInterval(() => {
      this.last = delayOf(this.histogram)
      this.histogram.reset()
    }, WINDOW_MS).unref()
  }

  /** The worse of this window and the previous one. */
  get delay(): LoopDelay {
    const now = delayOf(this.histogram)
    const worse = (name: keyof LoopDelay): number => Math.max(now[name], this.last[name])
    return { p50Ms: worse('p50Ms'), p99Ms: worse('p99Ms'), maxMs: worse('maxMs') }
  }
}

let monitor: LoopMonitor | null = null

export const loopDelay = (): LoopDelay => {
  monitor ??= new LoopMonitor()
  return monitor.delay
}

/** Read at every scrape. */
export const processReadings = (): readonly Reading[] => {
  const { rss, heapUsed } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  const { p50Ms, p99Ms, maxMs } = loopDelay()
  return [
    { metric: 'event_loop_delay_seconds', labels: ['0.5'], value: p50Ms / 1_000 },
    { metric: 'event_loop_delay_seconds', labels: ['0.99'], value: p99Ms / 1_000 },
    { metric: 'event_loop_delay_seconds', labels: ['1'], value: maxMs / 1_000 },
    { metric: 'process_resident_bytes', labels: [], value: rss },
    { metric: 'process_heap_bytes', labels: [], value: heapUsed },
    { metric: 'process_cpu_seconds', labels: ['user'], value: user / US_IN_S },
    { metric: 'process_cpu_seconds', labels: ['system'], value: system / US_IN_S },
    { metric: 'process_uptime_seconds', labels: [], value: process.uptime() },
  ]
}
