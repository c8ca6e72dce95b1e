/**
 * Who may talk to a server that only this machine should reach: its own pages and programs on it.
 *
 * Owns the Host check (a foreign name that points here), the origin check (a foreign page that posts here) and the headers that
 * every answer carries. Never knows who the caller is: on loopback there is one identity, `local`.
 *
 * guard-1  A request that names another host than loopback is refused, whatever it asks.
 * guard-2  A request that may change something and comes from a page of another origin is refused.
 */
import type { Context, MiddlewareHandler } from 'hono'
import { TrihandError } from '../model/errors.ts'

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]'])
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD'])
const OWN_SITE: ReadonlySet<string> = new Set(['same-origin', 'none'])

const hostOf = (context: Context): string => context.req.header('host') ?? new URL(context.req.url).host

const isLoopback = (host: string): boolean => LOOPBACK.has(host.toLowerCase().replace(/:\d*$/, ''))

/** A program sends neither header; a browser sends at least one of them with whatever could change something. */
const isForeign = (context: Context, host: string): boolean => {
  const origin = context.req.header('origin')
  const site = context.req.header('sec-fetch-site')
  return (origin !== undefined && origin !== `http://${host}`) || (site !== undefined && !OWN_SITE.has(site))
}

export const guard: MiddlewareHandler = async (context, next) => {
  const host = hostOf(context)
  if (!isLoopback(host)) throw new TrihandError('HOST_FORBIDDEN', `this server does not answer to the name ${host}`)
  if (!SAFE.has(context.req.method) && isForeign(context, host)) {
    throw new TrihandError('ORIGIN_FORBIDDEN', `a page of another origin may not send ${context.req.method} to ${host}`)
  }
  await next()
}

const HEADERS = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' }

export const commonHeaders: MiddlewareHandler = async (context, next) => {
  await next()
  for (const [name, value] of Object.entries(HEADERS))
    if (!context.res.headers.has(name)) context.res.headers.set(name, value)
}
