/**
 * The web app: its files, and its one page at every path that is a screen.
 *
 * Owns the policy of the page: only our own files, and styles by a nonce that is new each time. An unknown path of the API stays unknown.
 */
import type { Context, Hono } from 'hono'
import type { Admit } from '#http/access/auth.ts'
import { randomText } from '#http/access/random.ts'
import type { WebApp } from '#http/web-app.ts'

/** Paths that are never a screen. */
const NO_SCREEN = /^\/(api|mcp|hooks|health|metrics|assets)(\/|$)|\.(json|txt|js|css|svg|png|map|ico)$/

const policyOf = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    // Positions of bars, virtual rows and graph nodes are set as style attributes.
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

const page = (app: WebApp, mount: string): Response => {
  const nonce = randomText()
  // Files are found below the mount, however deep the path of the screen is.
  const html = app.index
    .replaceAll('"./', `"${mount}/`)
    .replace('__NONCE__', nonce)
    .replace('<title>', `<meta name="mount" content="${mount}" />$&`)
  return new Response(html, {
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policyOf(nonce) },
  })
}

/** Mounted after all other routes: a GET that they did not take and whose path may be a screen gets the page. */
export const serveWebApp = (hono: Hono, app: WebApp, admit: Admit, mount = ''): void => {
  hono.get('/*', async (context: Context, next) => {
    const { path } = context.req
    const file = app.files.get(path)
    if (file !== undefined) {
      const caching = file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache'
      return new Response(file.bytes, { headers: { 'content-type': file.type, 'cache-control': caching } })
    }
    if (NO_SCREEN.test(path)) return next()
    return (await admit(context, 'viewer')) ?? page(app, mount)
  })
}
