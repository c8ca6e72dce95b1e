/**
 * Routes for logging in and out with a browser, and for the caller's identity.
 *
 * Owns setting and clearing the cookie. The token itself is read once and never kept.
 */
import type { Context } from 'hono'
import type { AuthSettings } from '#http/access/auth-settings.ts'
import { loginCookie, logoutCookie, readLogin } from '#http/access/cookie.ts'
import type { FailedLogins } from '#http/access/failed-logins.ts'
import { askingOf, requireCaller } from '#http/access/identity.ts'
import { renderLogin } from '#http/access/login-page.ts'
import { randomText } from '#http/access/random.ts'
import { closed, ref, text } from '#http/openapi/schema.ts'
import { addressOf } from '#http/server/address.ts'
import { type Handle, json, type Operation } from './route.ts'

export interface LoginOptions {
  readonly auth: AuthSettings
  readonly failures: FailedLogins
}

const FORM = 'application/x-www-form-urlencoded'
const HTML = { media: 'text/html', schema: text }
const UNKNOWN = 'This token is unknown, has expired or was revoked.'

const policy = (nonce: string): string =>
  `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`

interface Refused {
  readonly status: 401 | 429
  readonly problem: string
  readonly headers?: Readonly<Record<string, string>>
}

const WRONG: Refused = { status: 401, problem: UNKNOWN }

const tooMany = (waitSeconds: number): Refused => ({
  status: 429,
  problem: `Too many wrong tokens came from here. Try again in ${waitSeconds} seconds.`,
  headers: { 'retry-after': String(waitSeconds) },
})

const showForm = (context: Context, next: string, refused: Refused | null): Response => {
  const nonce = randomText()
  // Without a referrer the origin of the form would be `null`, which is refused.
  const headers = { 'content-security-policy': policy(nonce), 'referrer-policy': 'same-origin', ...refused?.headers }
  return context.html(
    renderLogin({ nonce, next, problem: refused?.problem ?? null }),
    refused?.status ?? 200,
    headers,
  ) as Response
}

const HERE = 'http://here.invalid'

/**
 * Returns a path of this server, parsed as a browser would: tabs and line ends are dropped, \ is read as /, and dots are resolved. Anything
 * that could lead to another site becomes `/`.
 */
const pathOf = (next: string): string => {
  const url = next.startsWith('/') && URL.canParse(next, HERE) ? new URL(next, HERE) : null
  if (url === null || url.origin !== HERE || url.pathname.startsWith('//')) return '/'
  return `${url.pathname}${url.search}${url.hash}`
}

const isSecure = ({ origin }: AuthSettings): boolean => origin?.startsWith('https:') === true

const login =
  ({ auth: settings, failures }: LoginOptions): Handle =>
  async (service, context) => {
    const form = new URLSearchParams(await context.req.text())
    const [token, next] = [(form.get('token') ?? '').trim(), pathOf(form.get('next') ?? '/')]
    const [address, { now }] = [addressOf(context, settings), service.tokens]
    const wait = failures.waitOf(address, now)
    if (wait !== null) return showForm(context, next, tooMany(wait))
    const caller = settings.isRequired ? await service.tokens.callerOf(token) : null
    // Concurrent attempts may have failed meanwhile.
    const late = failures.waitOf(address, now)
    if (late !== null) return showForm(context, next, tooMany(late))
    if (caller === null) {
      failures.failed(address, now)
      return showForm(context, next, WRONG)
    }
    const options = { key: settings.signingKey, isSecure: isSecure(settings) }
    context.header('set-cookie', loginCookie(service.tokens.idOf(token), randomText(), service.tokens.now, options))
    return context.redirect(next, 303)
  }

const logout =
  (settings: AuthSettings): Handle =>
  async ({ tokens }, context) => {
    const login = readLogin(context.req.header('cookie'), tokens.now, settings.signingKey)
    if (login !== null) await tokens.endLogin(login.id, login.until)
    context.header('set-cookie', logoutCookie({ isSecure: isSecure(settings) }))
    return context.redirect('/login', 303)
  }

const me =
  (settings: AuthSettings): Handle =>
  async (_, context) => {
    const { tenant, id, kind, roles, groups } = requireCaller(context)
    const isNamed = askingOf(context)?.isNamed === true
    const isKnown = settings.isRequired || settings.identify !== undefined
    return context.json({
      tenant,
      id,
      kind,
      roles,
      groups,
      is_named: isNamed,
      is_login: isKnown,
      can_log_out: settings.isRequired,
    })
  }

/** Where the embedding program identifies callers, it has its own login page: a browser that is sent here is redirected back to `next`. */
const show =
  ({ identify }: AuthSettings): Handle =>
  async (_, context, query) => {
    const next = pathOf(query.get('next') ?? '/')
    return identify === undefined ? showForm(context, next, null) : context.redirect(next, 303)
  }

export const loginRoutes = ({ auth: settings, failures }: LoginOptions): readonly Operation[] => [
  {
    id: 'getLoginPage',
    method: 'get',
    path: '/login',
    access: 'public',
    summary: 'The page on which a person logs in with a token',
    query: { next: text },
    answers: { 200: HTML, 303: null },
    handle: show(settings),
  },
  {
    id: 'logIn',
    method: 'post',
    path: '/login',
    access: 'public',
    summary: 'Takes a token and answers with a cookie that lasts 12 hours',
    body: { isRequired: true, content: [{ media: FORM, schema: closed({ token: text }, { next: text }) }] },
    answers: { 303: null, 401: HTML, 429: HTML },
    handle: login({ auth: settings, failures }),
  },
  {
    id: 'logOut',
    method: 'post',
    path: '/logout',
    access: 'public',
    summary: 'Ends the login of this browser: its cookie counts nowhere again',
    answers: { 303: null },
    handle: logout(settings),
  },
  {
    id: 'getMe',
    method: 'get',
    path: '/api/me',
    access: 'viewer',
    summary: 'Who is asking, and what they may do',
    answers: { 200: json(ref('Me')) },
    handle: me(settings),
  },
]
