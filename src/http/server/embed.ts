/**
 * The HTTP application inside an application: under a path of the host's server, for whom the host says is asking.
 *
 * Owns the path and who is let in. Never listens: requests come from the host's own server.
 *
 * embed-1  Without a hook that says who is asking, only a request that is known to come from this machine is answered.
 * embed-2  A caller is whom the hook names, whatever the request says of itself; where it names nobody, only a token of the ledger counts.
 */
import type { IncomingMessage } from 'node:http'
import type { Context, Hono } from 'hono'
import { type AuthSettings, isLoopbackHost, LOOPBACK } from '#http/access/auth-settings.ts'
import { type Asking, kindOf } from '#http/access/identity.ts'
import { type Kind, lowered, ROLES, type Role } from '#model/access/identity.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { isPlainText, LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { Peer } from './address.ts'
import { problemResponse } from './problem.ts'

/** Who is asking, as the application that embeds this has found out. */
export interface Visitor {
  /** The name that decisions are recorded under. */
  readonly id: string
  /** Default: `user`, a person. Only a person decides. */
  readonly kind?: Kind
  /** Whose tasks are theirs, too. Default: none. */
  readonly groups?: readonly string[]
  /** Default: `viewer` and `decider`. `operator` sends and commands, `admin` makes tokens. */
  readonly roles?: readonly Role[]
}

/** Null: nobody (401). A Response is sent as it is: the way to the application's own login. */
export type Identify = (
  request: Request,
  incoming: IncomingMessage | null,
) => Visitor | Response | null | Promise<Visitor | Response | null>

export interface EmbedOptions {
  /** Where the application serves it: `/trihand`. Default: at the root. */
  readonly basePath?: string
  /** Says who is asking. Without it only callers on this machine are answered, and they may do everything. */
  readonly identify?: Identify
  /** The address that browsers use, where a proxy changes the Host header: `https://shop.example`. */
  readonly origin?: string
}

/** What a server knows of a request and the request itself does not say. */
interface Env extends Peer {
  readonly original: Request
  readonly incoming: IncomingMessage | null
}

export interface Embedded {
  /** `peer`: the other end of the socket, where the request itself does not carry it. */
  fetch(request: Request, peer?: Peer): Promise<Response>
  /** Whether this path is below the base path. */
  takes(path: string): boolean
}

const MAX_NAME = 255
const USUAL_ROLES: readonly Role[] = ['viewer', 'decider']

const BASE_PATH = /^(\/[\w~.-]+)*$/

/** `/trihand/` is `/trihand`; the root is empty. */
export const basePathOf = ({ basePath = '' }: EmbedOptions): string => {
  const path = basePath.replace(/\/$/, '')
  if (BASE_PATH.test(path) && !path.includes('..')) return path
  throw new TrihandError('CONFIG_INVALID', `http.basePath is "${basePath}"; expected a path like /trihand`)
}

const callerOf = ({ id, kind = 'user', groups = [], roles = USUAL_ROLES }: Visitor): Asking['caller'] => {
  const isWhole =
    [id, ...groups].every((name) => typeof name === 'string' && isPlainText(name, MAX_NAME)) &&
    roles.every((role) => ROLES.includes(role))
  if (!isWhole)
    throw new TrihandError('CONFIG_INVALID', 'http.identify named a visitor whose id, groups or roles are no names')
  return { tenant: LOCAL_TENANT, id, kind, groups, roles }
}

/** embed-2. */
const askedBy =
  (identify: Identify) =>
  async (context: Context): Promise<Asking | Response | null> => {
    const { original = context.req.raw, incoming = null } = (context.env ?? {}) as Partial<Env>
    const found = await identify(original, incoming)
    if (found === null) return null
    // A redirect's own headers cannot be added to.
    if (found instanceof Response) return new Response(found.body, found)
    const caller = callerOf(found)
    const person = caller.kind === 'user' ? caller.id : null
    return { caller: lowered(caller, kindOf(context)), isNamed: true, person, credential: null }
  }

export const embeddedAuth = ({ identify, origin }: EmbedOptions): AuthSettings => ({
  ...LOOPBACK,
  ...(identify !== undefined && { identify: askedBy(identify), takesAnyHost: true }),
  ...(origin !== undefined && { origin }),
})

/** Servers on Node keep the message with the request, under a symbol of their own. */
const incomingOf = (request: Request): IncomingMessage | null => {
  const kept = request as unknown as Readonly<Record<symbol, unknown>>
  for (const key of Object.getOwnPropertySymbols(request)) {
    const value = kept[key]
    if (typeof value === 'object' && value !== null && 'socket' in value && 'headers' in value)
      return value as IncomingMessage
  }
  return null
}

/** Said by a proxy: then the other end of the socket is the proxy. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']

/** embed-1. A request without a Host header was made by this program and came over no socket. */
const isFromHere = (request: Request, address: string | undefined): boolean => {
  if (FORWARDED.some((name) => request.headers.has(name))) return false
  if (address !== undefined) return isLoopbackHost(address.replace(/^::ffff:/i, ''))
  return !request.headers.has('host') && isLoopbackHost(new URL(request.url).hostname)
}

const OUTSIDE = 'nobody says who is asking, and the request is not known to come from this machine'

/** Where a relative answer leads, under the path of the host. */
const led = (response: Response, base: string): Response => {
  const to = response.headers.get('location')
  if (base === '' || to === null || !to.startsWith('/') || to === base || to.startsWith(`${base}/`)) return response
  const headers = new Headers(response.headers)
  headers.set('location', `${base}${to}`)
  return new Response(response.body, { status: response.status, headers })
}

/** Without the base path. A body is passed on as it comes. */
const below = (request: Request, url: URL, path: string): Request => {
  const { method, headers, signal } = request
  const isEmpty = method === 'GET' || method === 'HEAD'
  const body = isEmpty ? {} : { body: request.body, duplex: 'half' }
  return new Request(new URL(`${path}${url.search}`, url.origin), { method, headers, signal, ...body } as RequestInit)
}

/** `refused`: what is told of an error of this file. */
export const embed = (
  app: Pick<Hono, 'fetch'>,
  options: EmbedOptions,
  refused: (error: TrihandError) => Response = (error) =>
    problemResponse(
      error,
      () => {},
      (text) => text,
    ),
): Embedded => {
  const base = basePathOf(options)
  const takes = (path: string): boolean => base === '' || path === base || path.startsWith(`${base}/`)
  return {
    takes,
    fetch: async (request, peer) => {
      const url = new URL(request.url)
      if (!takes(url.pathname))
        return refused(new TrihandError('NOT_FOUND', `there is nothing at ${url.pathname}; it is served below ${base}`))
      const incoming = incomingOf(request)
      const address = peer?.address ?? incoming?.socket.remoteAddress
      if (options.identify === undefined && !isFromHere(request, address))
        return refused(new TrihandError('VISITOR_UNKNOWN', OUTSIDE))
      // The host part stays: what could lead to another server does not begin with two slashes.
      const path = `/${url.pathname.slice(base.length).replace(/^\/+/, '')}`
      const env: Env = { original: request, incoming, ...(address !== undefined && { address }) }
      return led(await app.fetch(below(request, url, path), env), base)
    },
  }
}
