/**
 * Mounts the table of routes on the application: handlers by method and path, and a refusal for every other method.
 *
 * Owns the translation of paths and the checks before every handler: access, and known parameters. Never knows what a route does.
 */
import type { Context, Hono } from 'hono'
import type { Admit } from '#http/access/auth.ts'
import { askingOf } from '#http/access/identity.ts'
import { nameRoute } from '#http/metrics/timing.ts'
import type { Operation } from '#http/routes/route.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { withKey } from './keyed.ts'
import { MethodNotAllowed } from './problem.ts'
import { type Query, readQuery } from './query.ts'
import type { Service } from './service.ts'
import { unlessSame } from './version.ts'

const NONE: Query = new Map()

export interface Within {
  readonly service: Service
  readonly admit: Admit
}

/** `/hooks/{path+}` is `/hooks/:path{.+}` to the router. */
const routerPath = (path: string): string =>
  path.replaceAll(/\{(\w+)(\+?)\}/g, (_, name: string, rest: string) => (rest === '' ? `:${name}` : `:${name}{.+}`))

const allowed = (operations: readonly Operation[]): string =>
  operations.flatMap(({ method }) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()])).join(', ')

/** The service of the caller's tenant, which comes from the credential alone. */
const serviceOf = (service: Service, context: Context): Service | Promise<Service> => {
  const tenant = askingOf(context)?.caller.tenant ?? LOCAL_TENANT
  return tenant === LOCAL_TENANT ? service : service.of(tenant)
}

const mountPath = (app: Hono, { service, admit }: Within, operations: readonly Operation[]): void => {
  const [{ path } = { path: '' }] = operations
  const at = routerPath(path)
  for (const operation of operations) {
    const { method, handle, access, query = {} } = operation
    const known = query === '*' ? null : Object.keys(query)
    app.on(method.toUpperCase(), at, async (context) => {
      nameRoute(context, path)
      const refused = await admit(context, access)
      if (refused !== null) return refused
      const own = await serviceOf(service, context)
      const given = known === null ? NONE : readQuery(context, known)
      const response = await withKey(service.requests, context, operation, () => handle(own, context, given))
      return method === 'get' ? unlessSame(context, response) : response
    })
  }
  const allow = allowed(operations)
  app.all(at, (context) => {
    throw new MethodNotAllowed(context.req.method, context.req.path, allow)
  })
}

/** In the order of the table: a fixed path must precede a pattern that would match it, too. */
export const mount = (app: Hono, within: Within, operations: readonly Operation[]): void => {
  const paths = new Map<string, Operation[]>()
  for (const operation of operations) paths.set(operation.path, [...(paths.get(operation.path) ?? []), operation])
  for (const group of paths.values()) mountPath(app, within, group)
}
