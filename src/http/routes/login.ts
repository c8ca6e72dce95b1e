/**
 * Logging in and out with a browser, and who one is.
 *
 * Owns the cookie's coming and going. The token itself is read once and never kept.
 */
import type { Context } from 'hono'
import type { AuthSettings } from '../auth-settings.ts'
import { randomText } from '../chance.ts'
import { loginCookie, logoutCookie } from '../cookie.ts'
import { askingOf, demandCaller } from '../identity.ts'
import { renderLogin } from '../login-page.ts'
import { closed, ref, text } from '../schema.ts'
import { type Handle, json, type Operation } from './route.ts'

const FORM = 'application/x-www-form-urlencoded'
const HTML = { media: 'text/html', schema: text }
const UNKNOWN = 'This token is unknown, has expired or was revoked.'

const policy = (nonce: string): string =>
  `default-src 'none'; style-src 'nonce-${nonce}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`

const showForm = (context: Context, next: string, problem: string | null): Response => {
  const nonce = randomText()
  // Without a referrer a form's origin would be `null`, which is nobody's.
  const headers = { 'content-security-policy': policy(nonce), 'referrer-policy': 'same-origin' }
  return context.html(renderLogin({ nonce, next, problem }), problem === null ? 200 : 401, headers) as Response
}

/** A path of this server; anything else could lead away. */
const pathOf = (next: string): string => (/^\/(?![/\\])/.test(next) ? next : '/')

const isSecure = ({ origin }: AuthSettings): boolean => origin?.startsWith('https:') === true

const login =
  (settings: AuthSettings): Handle =>
  async (service, context) => {
    const form = new URLSearchParams(await context.req.text())
    const [token, next] = [(form.get('token') ?? '').trim(), pathOf(form.get('next') ?? '/')]
    const caller = settings.isRequired ? await service.tokens.callerOf(token) : null
    if (caller === null) return showForm(context, next, UNKNOWN)
    const options = { key: settings.signingKey, isSecure: isSecure(settings) }
    context.header('set-cookie', loginCookie(service.tokens.idOf(token), service.tokens.now, options))
    return context.redirect(next, 303)
  }

const logout =
  (settings: AuthSettings): Handle =>
  async (_, context) => {
    context.header('set-cookie', logoutCookie({ isSecure: isSecure(settings) }))
    return context.redirect('/login', 303)
  }

const me =
  (settings: AuthSettings): Handle =>
  async (_, context) => {
    const { tenant, id, kind, roles, groups } = demandCaller(context)
    const isNamed = askingOf(context)?.isNamed === true
    return context.json({ tenant, id, kind, roles, groups, is_named: isNamed, is_login: settings.isRequired })
  }

const show: Handle = async (_, context, query) => showForm(context, pathOf(query.get('next') ?? '/'), null)

export const loginRoutes = (settings: AuthSettings): readonly Operation[] => [
  {
    id: 'getLoginPage',
    method: 'get',
    path: '/login',
    access: 'public',
    summary: 'The page on which a person logs in with a token',
    query: { next: text },
    answers: { 200: HTML },
    handle: show,
  },
  {
    id: 'logIn',
    method: 'post',
    path: '/login',
    access: 'public',
    summary: 'Takes a token and answers with a cookie that lasts 12 hours',
    body: { isRequired: true, content: [{ media: FORM, schema: closed({ token: text }, { next: text }) }] },
    answers: { 303: null, 401: HTML },
    handle: login(settings),
  },
  {
    id: 'logOut',
    method: 'post',
    path: '/logout',
    access: 'public',
    summary: 'Forgets the login of this browser',
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
