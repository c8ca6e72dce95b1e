/**
 * Measures how long requests take, by the route that answers them.
 *
 * Owns the name of a route while its request is answered: its pattern, never its path. A stream is measured until it begins.
 */
import type { Context, MiddlewareHandler } from 'hono'
import type { Instant } from '#model/kernel/ids.ts'
import type { Metrics } from './metrics.ts'
import { OTHER } from './table.ts'

const KEY = 'route'

export const nameRoute = (context: Context, pattern: string): void => context.set(KEY, pattern)

/** Runs before all other middleware, so that refused requests are counted, too. */
export const timing =
  (heard: readonly Metrics['answered'][], now: () => Instant): MiddlewareHandler =>
  async (context, next) => {
    const since = now()
    await next()
    const route = (context.get(KEY) as string | undefined) ?? OTHER
    for (const hear of heard) hear(route, context.res.status, Math.max(0, now() - since))
  }
