/**
 * Authentication by the credential alone, and authorization of the caller.
 *
 * Owns the order: a bearer token, then a login, then on loopback the caller's own headers. Never decides about a single task
 * (model/task/rights.ts).
 *
 * auth-1  A credential that is given but not valid is refused; the request is never treated as another caller's.
 * auth-2  Where credentials are required, a caller without one may use public routes and nothing else.
 * auth-3  A login cookie alone changes nothing: the request must also come from a page of this server.
 * auth-4  The metrics token reads the metrics; on every other route it is an unknown token.
 * auth-5  An address that sends too many wrong tokens must wait; a valid token from the same address is still accepted.
 */
import type { Context } from 'hono'
import type { Tokens } from '#engine/services/tokens.ts'
import { METRICS_PATH } from '#http/routes/metrics.ts'
import { addressOf } from '#http/server/address.ts'
import type { Allowance } from '#http/server/allowance.ts'
import { isFromOwnPage, isSafe } from '#http/server/guards.ts'
import { TooManyRequests } from '#http/server/problem.ts'
import { type Access, type Caller, forbidAccess, lowered } from '#model/access/identity.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import type { AuthSettings } from './auth-settings.ts'
import { readLogin } from './cookie.ts'
import type { FailedLogins } from './failed-logins.ts'
import { type Asking, askedLocally, keepAsking, kindOf } from './identity.ts'
import { isSameSecret } from './secret.ts'

export type Credentials = Pick<Tokens, 'callerOf' | 'callerById' | 'hasLoggedOut' | 'idOf' | 'now'>

const BEARER = /^Bearer +(\S+)$/i

/** The dependencies of authentication. */
interface AuthDeps {
  readonly tokens: Credentials
  readonly settings: AuthSettings
  readonly failures: FailedLogins
  readonly allowance: Allowance
}

/** auth-5. */
const refuseToken = ({ tokens, settings, failures }: AuthDeps, context: Context): TrihandError => {
  const [address, { now }] = [addressOf(context, settings), tokens]
  const wait = failures.waitOf(address, now)
  if (wait !== null) return new TooManyRequests('too many wrong tokens came from this address', wait)
  failures.failed(address, now)
  return new TrihandError('UNAUTHENTICATED', 'the token is unknown, has expired or was revoked')
}

const personOf = ({ id, kind }: Pick<Caller, 'id' | 'kind'>): string | null => (kind === 'user' ? id : null)

const fromBearer = async (deps: AuthDeps, context: Context, header: string): Promise<Asking> => {
  const [, token = ''] = BEARER.exec(header) ?? []
  const caller = await deps.tokens.callerOf(token)
  if (caller === null) throw refuseToken(deps, context)
  const who = lowered(caller, kindOf(context))
  return {
    caller: who,
    isNamed: true,
    person: personOf(caller),
    credential: { token: deps.tokens.idOf(token), login: null, until: Number.POSITIVE_INFINITY },
  }
}

const fromLogin = async (tokens: Credentials, context: Context, key: string): Promise<Asking | null> => {
  const login = readLogin(context.req.header('cookie'), tokens.now, key)
  if (login === null) return null
  const [caller, isOver] = await Promise.all([tokens.callerById(login.token), tokens.hasLoggedOut(login.id)])
  if (caller === null || isOver) return null
  if (!isSafe(context) && !isFromOwnPage(context))
    throw new TrihandError(
      'ORIGIN_FORBIDDEN',
      'a login is valid only on pages of this server; programs must send a token',
    )
  return {
    caller: lowered(caller, kindOf(context)),
    isNamed: true,
    person: personOf(caller),
    credential: { token: login.token, login: login.id, until: login.until },
  }
}

const SCRAPER: Asking = {
  caller: { tenant: LOCAL_TENANT, id: 'metrics', kind: 'service', groups: [], roles: ['viewer'] },
  isNamed: true,
  person: null,
  credential: null,
}

/** auth-4. */
const isScrape = ({ req }: Context, header: string, { metricsToken }: AuthSettings): boolean => {
  const [, token = ''] = BEARER.exec(header) ?? []
  return metricsToken !== null && req.path === METRICS_PATH && isSameSecret(token, metricsToken)
}

/** True if a caller must be identified. */
const asksFor = ({ isRequired, identify }: AuthSettings): boolean => isRequired || identify !== undefined

/** Null: no caller was identified. */
const resolve = async (deps: AuthDeps, context: Context): Promise<Asking | Response | null> => {
  const { tokens, settings } = deps
  const named = (await settings.identify?.(context)) ?? null
  if (named !== null) return named
  const bearer = context.req.header('authorization')
  if (bearer !== undefined) return isScrape(context, bearer, settings) ? SCRAPER : fromBearer(deps, context, bearer)
  const login = await fromLogin(tokens, context, settings.signingKey)
  return login ?? (asksFor(settings) ? null : askedLocally(context))
}

/** True for a person's browser, which should be shown the login page. */
const wantsPage = (context: Context): boolean =>
  context.req.method === 'GET' && (context.req.header('accept') ?? '').includes('text/html')

const toLogin = (context: Context): Response => {
  const { pathname, search } = new URL(context.req.url)
  return context.redirect(`/login?next=${encodeURIComponent(`${pathname}${search}`)}`, 303)
}

/** Null: continue. Otherwise the response for a browser that has to log in first. Throws if the caller lacks the role. */
export type Admit = (context: Context, access: Access) => Promise<Response | null>

export const doorkeeper =
  (deps: AuthDeps): Admit =>
  async (context, access) => {
    if (access === 'public') return null
    const asking = await resolve(deps, context)
    if (asking instanceof Response) return asking
    if (asking === null) {
      if (deps.settings.isRequired && wantsPage(context)) return toLogin(context)
      throw new TrihandError('UNAUTHENTICATED', 'this request has no credential')
    }
    if (asking.credential !== null) deps.allowance.take(asking.credential.token, deps.tokens.now)
    const refusal = forbidAccess(asking.caller, access)
    if (refusal !== null) throw new TrihandError(refusal.code, refusal.detail)
    keepAsking(context, asking)
    return null
  }
