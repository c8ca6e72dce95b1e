/**
 * Every operation of the API in one table, in the order in which paths are matched.
 *
 * Owns the list. Mounting, the document /openapi.json and the client's types are derived from it; a route that is not listed does not
 * exist.
 */
import { jobRoutes } from '#http/routes/runs/jobs.ts'
import { rerunRoutes } from '#http/routes/runs/reruns.ts'
import { runStreamRoutes } from '#http/routes/runs/run-stream.ts'
import { runRoutes } from '#http/routes/runs/runs.ts'
import { type StreamOptions, streamRoutes } from '#http/routes/runs/stream.ts'
import { timelineRoutes } from '#http/routes/runs/timeline.ts'
import { chatRoutes } from '#http/routes/work/chats.ts'
import { delayedRoutes } from '#http/routes/work/delayed.ts'
import { endpointRoutes } from '#http/routes/work/endpoints.ts'
import { eventRoutes } from '#http/routes/work/events.ts'
import { fleetRoutes } from '#http/routes/work/fleet.ts'
import { inboxRoutes } from '#http/routes/work/inbox.ts'
import { planRoutes } from '#http/routes/work/plans.ts'
import { queueRoutes } from '#http/routes/work/queues.ts'
import { scheduleRoutes } from '#http/routes/work/schedules.ts'
import { taskRoutes } from '#http/routes/work/tasks.ts'
import { webhookRoutes } from '#http/routes/work/webhooks.ts'
import { workerRoutes } from '#http/routes/work/workers.ts'
import { artifactRoutes } from './artifacts.ts'
import { type ConfigurationOptions, configurationRoutes } from './configuration.ts'
import { costRoutes } from './costs.ts'
import { documentRoutes } from './document.ts'
import { filterRoutes } from './filters.ts'
import { type HealthOptions, healthRoutes } from './health.ts'
import { type LoginOptions, loginRoutes } from './login.ts'
import { manifestRoutes } from './manifest.ts'
import { type MetricsOptions, metricsRoutes } from './metrics.ts'
import { openRunRoutes } from './open-runs.ts'
import { pageRoutes } from './page.ts'
import type { Operation } from './route.ts'
import { sessionRoutes } from './sessions.ts'
import { tokenRoutes } from './tokens.ts'
import { triggerRoutes } from './triggers.ts'

export interface TableOptions extends HealthOptions, StreamOptions, LoginOptions, MetricsOptions, ConfigurationOptions {
  /** True: the plain page is served, because there is no web app. */
  readonly hasPage: boolean
}

const apiRoutes = (options: TableOptions): readonly Operation[] => [
  ...(options.hasPage ? pageRoutes : []),
  ...healthRoutes(options),
  ...metricsRoutes(options),
  ...loginRoutes(options),
  ...tokenRoutes,
  ...configurationRoutes(options),
  // Before the route /api/events/{id}, which would take `delayed` for an id.
  ...delayedRoutes,
  ...eventRoutes,
  // Before the route /api/runs/{id}, which would take `open` for an id.
  ...jobRoutes,
  ...openRunRoutes,
  ...runRoutes,
  ...rerunRoutes,
  ...timelineRoutes,
  ...filterRoutes,
  ...workerRoutes,
  ...fleetRoutes,
  ...triggerRoutes,
  ...scheduleRoutes,
  ...queueRoutes,
  // Before the route /api/tasks/{id}, which would take `views` for an id.
  ...inboxRoutes,
  ...planRoutes,
  ...taskRoutes,
  ...manifestRoutes(),
  ...sessionRoutes,
  ...artifactRoutes,
  ...costRoutes,
  ...webhookRoutes,
  ...endpointRoutes,
  ...streamRoutes(options),
  ...runStreamRoutes(options),
  ...chatRoutes(options),
]

export const operations = (options: TableOptions): readonly Operation[] => {
  const table: readonly Operation[] = [
    ...apiRoutes(options),
    ...documentRoutes({ version: options.version, table: () => table }),
  ]
  return table
}
