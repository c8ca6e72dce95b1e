/**
 * The HTTP application embedded in another application: below a path of its server, with callers that the host identifies.
 *
 * Owns the path and access. Never listens: requests come from the host's own server.
 *
 * embed-1  Without an `identify` hook only a request that is known to come from this machine is answered.
 * embed-2  The caller is the one that the hook names, whatever the request claims; if the hook names none, only a token of the ledger is
 * valid.
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

/** The caller, as the application that embeds this has identified it. */
export interface Visitor {
  /** The name that decisions are recorded under. */
  readonly id: string
  /** Default: `user`, a person. Only a person can decide. */
  readonly kind?: Kind
  /** The groups whose tasks the caller also gets. Default: none. */
  readonly groups?: readonly string[]
  /** Default: `viewer` and `decider`. `operator` sends events and commands, `admin` creates tokens. */
  readonly roles?: readonly Role[]
}

/** Returns the caller. Null: there is none (401). A Response is sent as it is, for example a redirect to the application's own login. */
export type Identify = (
  request: Request,
  incoming: IncomingMessage | null,
) => Visitor | Response | null | Promise<Visitor | Response | null>

/** What the application's own server serves: `{ basePath: '/trihand', identify: async (request) => userOf(request) }`. */
export interface EmbedOptions {
  /** The path below which the application serves it: `/trihand`. Default: the root. */
  readonly basePath?: string
  /** Identifies the caller. Default: only callers on this machine are answered, and they may do everything. */
  readonly identify?: Identify
  /** The origin that browsers use, where a proxy changes the Host header: `https://shop.example`. Default: that of the request. */
  readonly origin?: string
}

/** Context of a request that the request itself does not contain. */
interface Env extends Peer {
  readonly original: Request
  readonly incoming: IncomingMessage | null
}

export interface Embedded {
  /** `peer`: the other end of the socket, if the request itself does not carry it. */
  fetch(request: Request, peer?: Peer): Promise<Response>
  /** True if the path is below the base path. */
  takes(path: string): boolean
}

const MAX_NAME = 255
const USUAL_ROLES: readonly Role[] = ['viewer', 'decider']

const BASE_PATH = /^(\/[\w~.-]+)*$/

/** `/trihand/` becomes `/trihand`; the root is empty. */
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
    throw new TrihandError(
      'CONFIG_INVALID',
      'http.identify returned a visitor whose id, groups or roles are not valid names',
    )
  return { tenant: LOCAL_TENANT, id, kind, groups, roles }
}

/** embed-2. */
const askedBy =
  (identify: Identify) =>
  async (context: Context): Promise<Asking | Response | null> => {
    const { original = context.req.raw, incoming = null } = (context.env ?? {}) as Partial<Env>
    const found = await identify(original, incoming)
    if (found === null) return null
    // The headers of a redirect are immutable, so it is copied.
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

/** Servers on Node keep the incoming message in the request, under a symbol of their own. */
const incomingOf = (request: Request): IncomingMessage | null => {
  const kept = request as unknown as Readonly<Record<symbol, unknown>>
  for (const key of Object.getOwnPropertySymbols(request)) {
    const value = kept[key]
    if (typeof value === 'object' && value !== null && 'socket' in value && 'headers' in value)
      return value as IncomingMessage
  }
  return null
}

/** Headers that a proxy sets: then the other end of the socket is the proxy. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via']

/** embed-1. A request without a Host header was made by this program and came over no socket. */
const isFromHere = (request: Request, address: string | undefined): boolean => {
  if (FORWARDED.some((name) => request.headers.has(name))) return false
  if (address !== undefined) return isLoopbackHost(address.replace(/^::ffff:/i, ''))
  return !request.headers.has('host') && isLoopbackHost(new URL(request.url).hostname)
}

const OUTSIDE = 'the caller is not identified, and the request is not known to come from this machine'

/** Adds the base path of the host to a relative redirect. */
const led = (response: Response, base: string): Response => {
  const to = response.headers.get('location')
  if (base === '' || to === null || !to.startsWith('/') || to === base || to.startsWith(`${base}/`)) return response
  const headers = new Headers(response.headers)
  headers.set('location', `${base}${to}`)
  return new Response(response.body, { status: response.status, headers })
}

/** The request without the base path. Its body is passed on as a stream. */
const below = (request: Request, url: URL, path: string): Request => {
  const { method, headers, signal } = request
  const isEmpty = method === 'GET' || method === 'HEAD'
  const body = isEmpty ? {} : { body: request.body, duplex: 'half' }
  return new Request(new URL(`${path}${url.search}`, url.origin), { method, headers, signal, ...body } as RequestInit)
}

/** `refused`: creates the response for an error of this file. */
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
      // Strips leading slashes: a path that begins with two of them could lead to another server.
      const path = `/${url.pathname.slice(base.length).replace(/^\/+/, '')}`
      const env: Env = { original: request, incoming, ...(address !== undefined && { address }) }
      return led(await app.fetch(below(request, url, path), env), base)
    },
  }
}
