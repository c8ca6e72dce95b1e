/**
 * The metrics of one service: counters from its commits and its responses, and gauges that are read on demand.
 *
 * Owns the wiring. Which fact counts as what is decided in ticks.ts; how it is shown in registry.ts.
 */
import type { Service } from '#http/server/service.ts'
import type { Streams } from '#http/stream/open-stream.ts'
import type { Instant } from '#model/kernel/ids.ts'
import type { Modality } from '#model/kernel/modality.ts'
import { gaugesOf } from './gauges.ts'
import { processReadings } from './process.ts'
import { exposition, type Shown } from './registry.ts'
import { Tally } from './tally.ts'
import { ticksOfAppend, ticksOfBatch, ticksOfRun } from './ticks.ts'

export interface Metrics {
  /** Called when a request to this route was answered. */
  answered(route: string, status: number, ms: number): void
  /** Called when the response was a problem. */
  refused(code: string): void
  show(now: Instant): Promise<Shown>
}

export const countFor = (service: Service, version: string, streams: Pick<Streams, 'count'>): Metrics => {
  const tally = new Tally()
  const read = gaugesOf(service)
  const shown = exposition(tally)
  const modalityOf = (handler: string): Modality => service.system.functions.get(handler)?.modality ?? 'workflow'
  service.subscribe('metrics', {
    appended: (append) => tally.add(ticksOfAppend(append)),
    ranOn: (handler, facts) => tally.add(ticksOfRun(handler, modalityOf(handler), facts)),
    performed: (handler, isDone, ms) => {
      const labels = [modalityOf(handler), isDone ? 'success' : 'failed']
      tally.add([{ metric: 'step_seconds', labels, value: ms / 1_000 }])
    },
    woke: (lateMs) => tally.add([{ metric: 'wake_lag_seconds', labels: [], value: lateMs / 1_000 }]),
    wrote: (batch) => tally.add(ticksOfBatch(batch)),
    refused: ({ code }) => tally.add([{ metric: 'ledger_refusals_total', labels: [code], value: 1 }]),
    failed: () => {},
    recovered: (leases) => tally.add([{ metric: 'runs_recovered_total', labels: [], value: leases }]),
  })
  return {
    answered: (route, status, ms) =>
      tally.add([{ metric: 'http_seconds', labels: [route, `${status}`], value: ms / 1_000 }]),
    refused: (code) => tally.add([{ metric: 'errors_total', labels: [code], value: 1 }]),
    show: async (now) =>
      shown([
        ...(await read(now)),
        ...processReadings(),
        { metric: 'intake_waiting', labels: [], value: service.vitals.backlog.waiting },
        { metric: 'intake_oldest_seconds', labels: [], value: service.vitals.backlog.oldestMs / 1_000 },
        { metric: 'stream_clients', labels: [], value: streams.count },
        { metric: 'build_info', labels: [version], value: 1 },
      ]),
  }
}
