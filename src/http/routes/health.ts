/**
 * Liveness and readiness, for supervisors and for the command line to recognize its own server.
 *
 * Owns the responses. What readiness means is model/kernel/readiness.ts. Never changes anything.
 */
import type { LoopDelay } from '#http/metrics/process.ts'
import { ref } from '#http/openapi/schema.ts'
import { readinessNow } from '#http/server/readiness.ts'
import type { Readiness } from '#model/kernel/readiness.ts'
import { type Handle, json, type Operation } from './route.ts'

export interface HealthOptions {
  readonly version: string
  readonly pid: number
  /** The delay of the event loop. Absent: this process measures it. */
  readonly loopDelay?: () => LoopDelay
}

export const healthRoutes = ({ version, pid, loopDelay }: HealthOptions): readonly Operation[] => {
  // Concurrent requests share one check, because the route is public.
  let judging: Promise<Readiness> | null = null
  const live: Handle = async (_, context) => context.json({ status: 'ok', version, pid })
  const ready =
    (whenNot: 200 | 503): Handle =>
    async (service, context) => {
      judging ??= readinessNow(service, loopDelay).finally(() => {
        judging = null
      })
      const { isReady, checks, reasons } = await judging
      const status = isReady ? 'ok' : 'unavailable'
      return context.json(
        {
          ...{ status, version, checks, reasons },
          durable: service.ledger.durable,
          simulated: service.simulatedBecause !== null,
          simulated_because: service.simulatedBecause,
        },
        isReady ? 200 : whenNot,
      )
    }
  const readiness = {
    method: 'get',
    access: 'public',
    summary: 'Can it work: the ledger is read and written, and what is due is taken',
    answers: { 200: json(ref('Health')), 503: json(ref('Health')) },
    handle: ready(503),
  } as const
  return [
    { id: 'getHealth', path: '/health', ...readiness },
    { id: 'getReadiness', path: '/health/ready', ...readiness },
    {
      // A browser logs every 503 as an error of the page; this route answers 200, and the page shows the reasons itself.
      id: 'showHealth',
      method: 'get',
      path: '/api/health',
      access: 'viewer',
      summary: 'The same document as /health, for a page: the answer is 200 also while the server is not ready',
      answers: { 200: json(ref('Health')) },
      handle: ready(200),
    },
    {
      id: 'getLiveness',
      method: 'get',
      path: '/health/live',
      access: 'public',
      summary: 'Is it alive, and which process is it',
      answers: { 200: json(ref('Live')) },
      handle: live,
    },
  ]
}
