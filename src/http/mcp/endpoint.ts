/**
 * MCP over HTTP at /mcp: each request is served by its own MCP server, which calls the application itself.
 *
 * Owns the mounting. The library is loaded with the first request. Hosts and origins were checked before (guards.ts), and every operation
 * checks again what the caller may do, with the caller's own credential.
 */
import type { Hono } from 'hono'
import type { Admit } from '#http/access/auth.ts'
import { type Answered, type ApiConnection, CALLER } from './connection.ts'
import type { ApiDocument, Call } from './operation.ts'

const PATH = '/mcp'

/** The cookie is passed on because an application that embeds the server may identify the caller by it. */
const CREDENTIALS = ['authorization', 'cookie'] as const

const headersFor = (caller: Request | undefined): Record<string, string> => {
  const kept = CREDENTIALS.flatMap((name) => {
    const value = caller?.headers.get(name) ?? null
    return value === null ? [] : [[name, value] as const]
  })
  return { ...CALLER, ...Object.fromEntries(kept) }
}

const answered = async (response: Response): Promise<Answered> => {
  const document: unknown = await response.json()
  return response.ok ? { isOk: true, document } : { isOk: false, problem: document as never }
}

export interface Mounting {
  readonly version: string
  /** The path of the embedding server below which this one is mounted. */
  readonly mount: string
  readonly admit: Admit
}

/** What the server knew of a caller's request (its environment) also applies to the calls made on the caller's behalf. */
const known = new WeakMap<Request, object>()

const doorOf = (app: Hono, caller: Request, mount: string): ApiConnection => {
  const base = new URL(caller.url).origin
  return {
    pages: `${base}${mount}`,
    ask: async ({ method, path, body }: Call) =>
      answered(
        await app.request(
          `${base}${path}`,
          {
            method,
            headers: { ...headersFor(caller), ...(body !== undefined && { 'content-type': 'application/json' }) },
            ...(body !== undefined && { body: JSON.stringify(body) }),
          },
          known.get(caller),
        ),
      ),
  }
}

type Fetch = (request: Request) => Promise<Response>

const open = async (app: Hono, { version, mount }: Mounting): Promise<Fetch> => {
  const [{ createMcpHandler }, { createMcpServer }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('./server.ts'),
  ])
  const document = (await (await app.request('http://localhost/openapi.json')).json()) as ApiDocument
  const serve = (caller: Request) => createMcpServer(doorOf(app, caller, mount), { version, document })
  const local = new Request('http://localhost/')
  return createMcpHandler(({ requestInfo }) => serve(requestInfo ?? local)).fetch
}

export const mountMcp = (app: Hono, mounting: Mounting): void => {
  let opened: Promise<Fetch> | null = null
  app.all(PATH, async (context) => {
    opened ??= open(app, mounting)
    const { raw } = context.req
    if (typeof context.env === 'object' && context.env !== null) known.set(raw, context.env)
    return (await mounting.admit(context, 'viewer')) ?? (await opened)(raw)
  })
}
