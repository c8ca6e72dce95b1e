/**
 * `GET /metrics`: counters of this process and gauges of its ledger, in the format of Prometheus.
 *
 * Owns the response. The metrics are the server's: a caller of any tenant but the server's own gets none.
 */
import { askingOf } from '#http/access/identity.ts'
import type { Metrics } from '#http/metrics/metrics.ts'
import { text } from '#http/openapi/schema.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Handle, Operation } from './route.ts'

export const METRICS_PATH = '/metrics'

export interface MetricsOptions {
  readonly metrics: Pick<Metrics, 'show'>
}

export const metricsRoutes = ({ metrics }: MetricsOptions): readonly Operation[] => {
  const show: Handle = async (service, context) => {
    if (askingOf(context)?.caller.tenant !== LOCAL_TENANT)
      throw new TrihandError('NOT_FOUND', 'metrics belong to the server, not to a tenant')
    const { text: shown, contentType } = await metrics.show(service.tasks.now)
    return context.body(shown, 200, { 'content-type': contentType })
  }
  return [
    {
      id: 'getMetrics',
      method: 'get',
      path: METRICS_PATH,
      access: 'viewer',
      summary: 'Counts and gauges for Prometheus; TRIHAND_METRICS_TOKEN opens it, too',
      answers: { 200: { media: 'text/plain', schema: text } },
      problems: ['NOT_FOUND'],
      handle: show,
    },
  ]
}
