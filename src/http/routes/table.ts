/**
 * Every operation of the interface in one table, in the order in which paths are tried.
 *
 * Owns the list. Mounting, the document /openapi.json and the client's types read it; a route that is not in it does not exist.
 */
import { artifactRoutes } from './artifacts.ts'
import { chatRoutes } from './chats.ts'
import { type ConfigurationOptions, configurationRoutes } from './configuration.ts'
import { costRoutes } from './costs.ts'
import { delayedRoutes } from './delayed.ts'
import { documentRoutes } from './document.ts'
import { endpointRoutes } from './endpoints.ts'
import { eventRoutes } from './events.ts'
import { filterRoutes } from './filters.ts'
import { fleetRoutes } from './fleet.ts'
import { type HealthOptions, healthRoutes } from './health.ts'
import { inboxRoutes } from './inbox.ts'
import { jobRoutes } from './jobs.ts'
import { type LoginOptions, loginRoutes } from './login.ts'
import { manifestRoutes } from './manifest.ts'
import { type MetricsOptions, metricsRoutes } from './metrics.ts'
import { openRunRoutes } from './open-runs.ts'
import { pageRoutes } from './page.ts'
import { planRoutes } from './plans.ts'
import { queueRoutes } from './queues.ts'
import { rerunRoutes } from './reruns.ts'
import type { Operation } from './route.ts'
import { runStreamRoutes } from './run-stream.ts'
import { runRoutes } from './runs.ts'
import { scheduleRoutes } from './schedules.ts'
import { sessionRoutes } from './sessions.ts'
import { type StreamOptions, streamRoutes } from './stream.ts'
import { taskRoutes } from './tasks.ts'
import { timelineRoutes } from './timeline.ts'
import { tokenRoutes } from './tokens.ts'
import { triggerRoutes } from './triggers.ts'
import { webhookRoutes } from './webhooks.ts'
import { workerRoutes } from './workers.ts'

export interface TableOptions extends HealthOptions, StreamOptions, LoginOptions, MetricsOptions, ConfigurationOptions {
  /** The plain page, where there is no web app. */
  readonly hasPage: boolean
}

const apiRoutes = (options: TableOptions): readonly Operation[] => [
  ...(options.hasPage ? pageRoutes : []),
  ...healthRoutes(options),
  ...metricsRoutes(options),
  ...loginRoutes(options),
  ...tokenRoutes,
  ...configurationRoutes(options),
  // Before the pattern that would take its word for the id of an event.
  ...delayedRoutes,
  ...eventRoutes,
  // Before the pattern that would take its word for the id of a run.
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
  // Before the pattern that would take its word for the id of a task.
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
