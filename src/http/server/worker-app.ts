/**
 * The HTTP application of a process that only works: liveness, readiness and metrics. It accepts no events and shows no page.
 *
 * Owns the choice of routes. Health is open to every caller; the metrics require the same credential as those of the server (auth.ts).
 */
import { Hono } from 'hono'
import { doorkeeper } from '#http/access/auth.ts'
import type { AuthSettings } from '#http/access/auth-settings.ts'
import { FailedLogins } from '#http/access/failed-logins.ts'
import { countFor } from '#http/metrics/metrics.ts'
import { timing } from '#http/metrics/timing.ts'
import { type HealthOptions, healthRoutes } from '#http/routes/health.ts'
import { metricsRoutes } from '#http/routes/metrics.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { Allowance } from './allowance.ts'
import { commonHeaders, guard } from './guards.ts'
import { mount } from './mount.ts'
import { problemResponse, type Report } from './problem.ts'
import { tryLedger } from './readiness.ts'
import type { Service } from './service.ts'

export interface WorkerAppOptions extends HealthOptions {
  readonly report: Report
  readonly auth: AuthSettings
  readonly ending: AbortSignal
}

export const createWorkerApp = (service: Service, options: WorkerAppOptions): Hono => {
  const { auth, ending, report, version } = options
  const app = new Hono()
  tryLedger(service, ending)
  const metrics = countFor(service, version, { count: 0 })
  app.use(timing([metrics.answered], () => service.tasks.now))
  app.use(commonHeaders)
  app.use(guard(auth))
  const admit = doorkeeper({
    tokens: service.tokens,
    settings: auth,
    failures: new FailedLogins(),
    allowance: new Allowance(),
  })
  mount(app, { service, admit }, [...healthRoutes(options), ...metricsRoutes({ metrics })])
  app.notFound(({ req }) => {
    const detail = `there is nothing at ${req.path}; a worker serves /health, /health/live, /health/ready and /metrics`
    return problemResponse(new TrihandError('NOT_FOUND', detail), report, service.redact)
  })
  app.onError((error) => problemResponse(error, report, service.redact))
  return app
}
