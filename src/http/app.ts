/**
 * The HTTP application: guards first, then the table of routes, then one answer for everything else.
 *
 * Owns mounting and the limit of a body. Never holds a rule, a port number or a socket (server.ts).
 *
 * app-1  Whatever goes wrong is answered with a problem document and a code of the one table.
 * app-2  GET and HEAD never write.
 */
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { TrihandError } from '../model/errors.ts'
import { commonHeaders, guard } from './guards.ts'
import { MethodNotAllowed, problemResponse, type Report } from './problem.ts'
import { eventRoutes } from './routes/events.ts'
import { type HealthOptions, healthRoutes } from './routes/health.ts'
import { pageRoutes } from './routes/page.ts'
import type { Route } from './routes/route.ts'
import { runRoutes } from './routes/runs.ts'
import { scheduleRoutes } from './routes/schedules.ts'
import { streamRoutes } from './routes/stream.ts'
import { taskRoutes } from './routes/tasks.ts'
import { triggerRoutes } from './routes/triggers.ts'
import { serveWebApp } from './routes/web-app.ts'
import { webhookRoutes } from './routes/webhooks.ts'
import { workerRoutes } from './routes/workers.ts'
import type { Service } from './service.ts'
import type { WebApp } from './web-app.ts'

const MAX_BODY_BYTES = 1024 * 1024

export interface AppOptions extends HealthOptions {
  /** Hears of every error that is a bug, under the name that the caller was told. */
  readonly report: Report
  /** Absent: the plain page, without a program in it. */
  readonly webApp?: WebApp | null
  /** Aborted when the server stops: open streams end. */
  readonly ending?: AbortSignal
}

const tooLarge = (): never => {
  throw new TrihandError('PAYLOAD_TOO_LARGE', `a body may have ${MAX_BODY_BYTES} bytes`)
}

const mount = (app: Hono, route: Route): void => {
  const { path, get, post, patch } = route
  if (get !== undefined) app.get(path, get)
  if (post !== undefined) app.post(path, post)
  if (patch !== undefined) app.patch(path, patch)
  const allow = [
    ...(get === undefined ? [] : ['GET', 'HEAD']),
    ...(post === undefined ? [] : ['POST']),
    ...(patch === undefined ? [] : ['PATCH']),
  ].join(', ')
  app.all(path, (context) => {
    throw new MethodNotAllowed(context.req.method, context.req.path, allow)
  })
}

export const createApp = (service: Service, options: AppOptions): Hono => {
  const app = new Hono()
  const { webApp = null } = options
  app.use(commonHeaders)
  app.use(guard)
  app.use(bodyLimit({ maxSize: MAX_BODY_BYTES, onError: tooLarge }))
  const routes = [
    ...(webApp === null ? pageRoutes(service) : []),
    ...healthRoutes(service, options),
    ...eventRoutes(service),
    ...runRoutes(service),
    ...workerRoutes(service),
    ...triggerRoutes(service),
    ...scheduleRoutes(service),
    ...taskRoutes(service),
    ...webhookRoutes(service),
    ...streamRoutes(service, options.ending ?? new AbortController().signal),
  ]
  const { endpoint } = service
  // First: it stands where its owner put it, also under a path that a pattern of ours would match.
  if (endpoint !== null) app.all(endpoint.path, (context) => endpoint.answer(context.req.raw))
  for (const route of routes) mount(app, route)
  if (webApp !== null) serveWebApp(app, webApp)
  app.notFound((context) =>
    problemResponse(new TrihandError('NOT_FOUND', `there is nothing at ${context.req.path}`), options.report),
  )
  app.onError((error) => problemResponse(error, options.report))
  return app
}
