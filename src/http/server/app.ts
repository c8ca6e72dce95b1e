/**
 * The HTTP application: guards first, then the table of routes, then one answer for everything else.
 *
 * Owns the order. Never holds a rule, a port number or a socket (server.ts).
 *
 * app-1  Whatever goes wrong is answered with a problem document and a code of the one table.
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
  /** Hears of every error that is a bug, under the name that the caller was told. */
  readonly report: Report
  /** Absent: loopback, without credentials. */
  readonly auth?: AuthSettings
  /** Absent: the plain page, without a program in it. */
  readonly webApp?: WebApp | null
  /** The path of the host's server below which this one is. Absent: the root. */
  readonly mount?: string
  /** Aborted when the server stops: open streams end. */
  readonly ending?: AbortSignal
  /** How long the first answer to a request with a key is kept. */
  readonly retentionMs?: number
  /** How much one credential may ask. Absent: as is usual. */
  readonly limits?: Limits
  /** Hears of every answer: its route, status and milliseconds. */
  readonly answered?: Metrics['answered']
}

/** Where other processes commit, too, the store tells what and in which order; a commit of this one is a reason to look. */
const newFeed = (service: Service): Feed => {
  if (service.changeFeed !== null) {
    const shared = new SharedFeed(service.changeFeed)
    service.watch(() => shared.look())
    return shared
  }
  const feed = new LiveFeed(randomText().replaceAll('-', '_'))
  service.watch((change) => {
    for (const notice of noticesOf(change)) feed.tell(notice)
  })
  return feed
}

/** What is committed, as news: for each tenant its own. */
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
  // First: it stands where its owner put it, also under a path that a pattern of ours would match.
  if (endpoint !== null) app.all(endpoint.path, (context) => endpoint.answer(context.req.raw))
  const admit = doorkeeper({ tokens: service.tokens, settings: auth, failures, allowance })
  mountMcp(app, { version: options.version, mount: above, admit })
  // Behind those that read the request itself.
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
