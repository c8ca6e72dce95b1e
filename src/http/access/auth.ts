/**
 * Who is asking, from the credential alone, and whether they may.
 *
 * Owns the order: a bearer token, a login, and on loopback the word of whoever sits there. Never decides about a single task
 * (model/task/rights.ts).
 *
 * auth-1  A credential that is given and does not count is refused; it never becomes somebody else's.
 * auth-2  Where credentials are asked for, who has none gets what is public and nothing else.
 * auth-3  A login alone changes nothing: the request must also come from a page of ours.
 * auth-4  The metrics token reads the metrics; to every other route it is a token that nobody knows.
 * auth-5  Who sends too many wrong tokens is told to wait; a token that counts is let in, whoever sends wrong ones beside it.
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

/** What the door knows. */
interface RunHost {
  readonly tokens: Credentials
  readonly settings: AuthSettings
  readonly failures: FailedLogins
  readonly allowance: Allowance
}

/** auth-5. */
const refuseToken = ({ tokens, settings, failures }: RunHost, context: Context): TrihandError => {
  const [address, { now }] = [addressOf(context, settings), tokens]
  const wait = failures.waitOf(address, now)
  if (wait !== null) return new TooManyRequests('too many wrong tokens came from this address', wait)
  failures.failed(address, now)
  return new TrihandError('UNAUTHENTICATED', 'the token is unknown, has expired or was revoked')
}

const personOf = ({ id, kind }: Pick<Caller, 'id' | 'kind'>): string | null => (kind === 'user' ? id : null)

const fromBearer = async (keeper: RunHost, context: Context, header: string): Promise<Asking> => {
  const [, token = ''] = BEARER.exec(header) ?? []
  const caller = await keeper.tokens.callerOf(token)
  if (caller === null) throw refuseToken(keeper, context)
  const who = lowered(caller, kindOf(context))
  return {
    caller: who,
    isNamed: true,
    person: personOf(caller),
    credential: { token: keeper.tokens.idOf(token), login: null, until: Number.POSITIVE_INFINITY },
  }
}

const fromLogin = async (tokens: Credentials, context: Context, key: string): Promise<Asking | null> => {
  const login = readLogin(context.req.header('cookie'), tokens.now, key)
  if (login === null) return null
  const [caller, isOver] = await Promise.all([tokens.callerById(login.token), tokens.hasLoggedOut(login.id)])
  if (caller === null || isOver) return null
  if (!isSafe(context) && !isFromOwnPage(context))
    throw new TrihandError('ORIGIN_FORBIDDEN', 'a login counts for pages of this server; programs send a token')
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

/** Whether somebody must be known. */
const asksFor = ({ isRequired, identify }: AuthSettings): boolean => isRequired || identify !== undefined

/** Null: nobody was found. */
const resolve = async (keeper: RunHost, context: Context): Promise<Asking | Response | null> => {
  const { tokens, settings } = keeper
  const named = (await settings.identify?.(context)) ?? null
  if (named !== null) return named
  const bearer = context.req.header('authorization')
  if (bearer !== undefined) return isScrape(context, bearer, settings) ? SCRAPER : fromBearer(keeper, context, bearer)
  const login = await fromLogin(tokens, context, settings.signingKey)
  return login ?? (asksFor(settings) ? null : askedLocally(context))
}

/** A person's browser, which should see a page to log in. */
const wantsPage = (context: Context): boolean =>
  context.req.method === 'GET' && (context.req.header('accept') ?? '').includes('text/html')

const toLogin = (context: Context): Response => {
  const { pathname, search } = new URL(context.req.url)
  return context.redirect(`/login?next=${encodeURIComponent(`${pathname}${search}`)}`, 303)
}

/** Null: go on. Otherwise the answer for a browser that has to log in first; whoever may not is refused. */
export type Admit = (context: Context, access: Access) => Promise<Response | null>

export const doorkeeper =
  (keeper: RunHost): Admit =>
  async (context, access) => {
    if (access === 'public') return null
    const asking = await resolve(keeper, context)
    if (asking instanceof Response) return asking
    if (asking === null) {
      if (keeper.settings.isRequired && wantsPage(context)) return toLogin(context)
      throw new TrihandError('UNAUTHENTICATED', 'there is no credential with this request')
    }
    if (asking.credential !== null) keeper.allowance.take(asking.credential.token, keeper.tokens.now)
    const refusal = forbidAccess(asking.caller, access)
    if (refusal !== null) throw new TrihandError(refusal.code, refusal.detail)
    keepAsking(context, asking)
    return null
  }
