/**
 * What a route is: a path, and one handler per method that it takes.
 *
 * Owns the shape only, so that the table of methods (405) is the table of routes.
 */
import type { Context } from 'hono'

export type Handle = (context: Context) => Promise<Response>

export interface Route {
  readonly path: string
  readonly get?: Handle
  readonly post?: Handle
  readonly patch?: Handle
}
