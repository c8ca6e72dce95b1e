/**
 * The HTTP application: guards first, then the table of routes, then one response for everything else.
 *
 * Owns the order. Contains no rules, no port number and no socket (server.ts).
 *
 * app-1  Every failure is answered with a problem document and a code of the one error table.
 * app-2  GET and HEAD never write.
 */
import { Hono } from 'hono'
import { doorkeeper } from '#http/access/auth.ts'
import { type AuthSettings, LOOPBACK } from '#http/access/auth-settings.ts'
import { FailedLogins } from '#http/access/failed-logins.ts'
import { randomText } from '#http/access/random.ts'
import { mountMcp } from '#http/mcp/endpoint.ts'
import { countFor, type Metrics } from '#http/metrics/metrics.ts'
import { timing } from '#http/metrics/timing.ts'
import type { ConfigurationOptions } from '#http/routes/configuration.ts'
import type { HealthOptions } from '#http/routes/health.ts'
import { operations } from '#http/routes/table.ts'
import { serveWebApp } from '#http/routes/web-app.ts'
import { type Feed, LiveFeed, noticesOf } from '#http/stream/live.ts'
import { Streams } from '#http/stream/open-stream.ts'
import { SharedFeed } from '#http/stream/shared-feed.ts'
import type { WebApp } from '#http/web-app.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { Allowance, type Limits } from './allowance.ts'
import { limitBody, limitLength } from './body-limit.ts'
import { commonHeaders, guard } from './guards.ts'
import { forgetOldRequests } from './housekeeping.ts'
import { mount } from './mount.ts'
import { problemOf, problemResponse, type Report } from './problem.ts'
import { tryLedger } from './readiness.ts'
import type { Service } from './service.ts'

export interface AppOptions extends HealthOptions, ConfigurationOptions {
  /** Receives every unexpected error with the id that the caller was given. */
  readonly report: Report
  /** Absent: loopback, without credentials. */
  readonly auth?: AuthSettings
  /** Absent or null: the plain page without scripts is served. */
  readonly webApp?: WebApp | null
  /** The path of the embedding server below which this one is mounted. Absent: the root. */
  readonly mount?: string
  /** Aborted when the server stops: open streams end. */
  readonly ending?: AbortSignal
  /** How long the first response to a request with an idempotency key is kept. */
  readonly retentionMs?: number
  /** The limits of one credential. Absent: the default limits. */
  readonly limits?: Limits
  /** Receives every response: its route, status and milliseconds. */
  readonly answered?: Metrics['answered']
}

/** Where other processes commit, too, the store gives the order of changes, and a commit of this process only triggers a read. */
const newFeed = (service: Service): Feed => {
  if (service.changeFeed !== null) {
    const shared = new SharedFeed(service.changeFeed)
    service.subscribe('changes', () => shared.look())
    return shared
  }
  const feed = new LiveFeed(randomText().replaceAll('-', '_'))
  service.subscribe('changes', (change) => {
    for (const notice of noticesOf(change)) feed.tell(notice)
  })
  return feed
}

/** The feed of commits: each tenant has its own. */
const feeds = (own: Service): ((service: Service) => Feed) => {
  const known = new WeakMap<Service, Feed>([[own, newFeed(own)]])
  return (service) => {
    const feed = known.get(service) ?? newFeed(service)
    known.set(service, feed)
    return feed
  }
}

export const createApp = (service: Service, options: AppOptions): Hono => {
  const app = new Hono()
  const { webApp = null, mount: above = '', auth = LOOPBACK, ending = new AbortController().signal } = options
  tryLedger(service, ending)
  forgetOldRequests(service.requests, ending, options.retentionMs)
  const allowance = new Allowance(options.limits)
  const streams = new Streams(ending, service.tokens, allowance)
  const metrics = countFor(service, options.version, streams)
  const { answered = () => {} } = options
  app.use(timing([metrics.answered, answered], () => service.tasks.now))
  app.use(commonHeaders)
  app.use(guard(auth))
  app.use(limitLength)
  const failures = new FailedLogins()
  const own = { auth, streams, failures, metrics, hasPage: webApp === null, feedOf: feeds(service) }
  const routes = operations({ ...options, ...own })
  const { endpoint } = service
  // First: it is served at the path its owner chose, even if a pattern below would match that path.
  if (endpoint !== null) app.all(endpoint.path, (context) => endpoint.answer(context.req.raw))
  const admit = doorkeeper({ tokens: service.tokens, settings: auth, failures, allowance })
  mountMcp(app, { version: options.version, mount: above, admit })
  // After the handlers above, which read the request body themselves.
  app.use(limitBody)
  mount(app, { service, admit }, routes)
  if (webApp !== null) serveWebApp(app, webApp, admit, above)
  const refuse = (error: Error): Response => {
    metrics.refused(problemOf(error).code)
    return problemResponse(error, options.report, (text) => service.redact(text))
  }
  app.notFound((context) => refuse(new TrihandError('NOT_FOUND', `there is nothing at ${context.req.path}`)))
  app.onError(refuse)
  return app
}
