/**
 * The metrics of one service: what is counted from its commits and its answers, and what is read when somebody asks.
 *
 * Owns the joining. Which fact counts as what is ticks.ts; how it is shown is registry.ts.
 */
import type { Instant } from '../../model/ids.ts'
import type { Service } from '../service.ts'
import { gaugesOf } from './gauges.ts'
import { exposition, type Shown } from './registry.ts'
import { Tally } from './tally.ts'
import { ticksOfAppend, ticksOfBatch, ticksOfRun } from './ticks.ts'

export interface Metrics {
  /** A request to this route was answered. */
  answered(route: string, status: number, ms: number): void
  /** An answer was a problem. */
  refused(code: string): void
  show(now: Instant): Promise<Shown>
}

export const countFor = (service: Service, version: string): Metrics => {
  const tally = new Tally()
  const read = gaugesOf(service)
  const shown = exposition(tally)
  service.observe({
    appended: (append) => tally.add(ticksOfAppend(append)),
    ranOn: (handler, facts) => {
      const modality = service.system.functions.get(handler)?.modality ?? 'workflow'
      tally.add(ticksOfRun(handler, modality, facts))
    },
    wrote: (batch) => tally.add(ticksOfBatch(batch)),
    recovered: (leases) => tally.add([{ metric: 'runs_recovered_total', labels: [], value: leases }]),
  })
  return {
    answered: (route, status, ms) =>
      tally.add([{ metric: 'http_seconds', labels: [route, `${status}`], value: ms / 1_000 }]),
    refused: (code) => tally.add([{ metric: 'errors_total', labels: [code], value: 1 }]),
    show: async (now) => shown([...(await read(now)), { metric: 'build_info', labels: [version], value: 1 }]),
  }
}
