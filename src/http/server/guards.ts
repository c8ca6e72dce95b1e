/**
 * Checks of a request before its caller is identified: it must name this server, and not come from a page of another origin.
 *
 * Owns the Host check (against a foreign name that resolves here), the origin check (against a foreign page that posts here) and the
 * headers of every response. Never knows the caller (auth.ts).
 *
 * guard-1  A request that names another host than this server's is refused, whatever its method.
 * guard-2  A request that may change something and comes from a page of another origin is refused; one with a bearer token is not, because
 * no page can send one.
 */
import { isIP } from 'node:net'
import type { Context, MiddlewareHandler } from 'hono'
import { type AuthSettings, isLoopbackHost } from '#http/access/auth-settings.ts'
import { TrihandError } from '#model/kernel/errors.ts'

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD'])
const OWN_SITE: ReadonlySet<string> = new Set(['same-origin', 'none'])

export const isSafe = (context: Context): boolean => SAFE.has(context.req.method)

const hostOf = (context: Context): string => context.req.header('host') ?? new URL(context.req.url).host

const isOwn = (host: string, { hosts, takesAddresses, takesAnyHost = false }: AuthSettings): boolean => {
  const name = host.toLowerCase().replace(/:\d*$/, '')
  const isAddress = isIP(name.replace(/^\[|\]$/g, '')) !== 0
  return takesAnyHost || isLoopbackHost(name) || hosts.includes(name) || (takesAddresses && isAddress)
}

/** A program sends neither header; a browser sends at least one of them with every request that could change something. */
const isForeign = (context: Context, host: string, { origin: own, takesAnyHost = false }: AuthSettings): boolean => {
  const origin = context.req.header('origin')
  const site = context.req.header('sec-fetch-site')
  // A proxy of the embedding program may serve https to browsers.
  const isSame = origin === `http://${host}` || (takesAnyHost && origin === `https://${host}`)
  const isOther = origin !== undefined && !isSame && origin !== own
  return isOther || (site !== undefined && !OWN_SITE.has(site))
}

/** True if a browser sent it; `guard` has already refused pages of other origins. */
export const isFromOwnPage = (context: Context): boolean =>
  context.req.header('origin') !== undefined || context.req.header('sec-fetch-site') !== undefined

export const guard =
  (settings: AuthSettings): MiddlewareHandler =>
  async (context, next) => {
    const host = hostOf(context)
    if (!isOwn(host, settings))
      throw new TrihandError('HOST_FORBIDDEN', `this server does not accept the host name ${host}`)
    const isBearer = context.req.header('authorization') !== undefined
    if (!isSafe(context) && !isBearer && isForeign(context, host, settings)) {
      const detail = `a page of another origin may not send ${context.req.method} to ${host}`
      throw new TrihandError('ORIGIN_FORBIDDEN', detail)
    }
    await next()
  }

const HEADERS = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' }

export const commonHeaders: MiddlewareHandler = async (context, next) => {
  await next()
  for (const [name, value] of Object.entries(HEADERS))
    if (!context.res.headers.has(name)) context.res.headers.set(name, value)
}
