/**
 * MCP over HTTP at /mcp: each request is served by a server of its own that asks the application itself.
 *
 * Owns the mounting. The library is loaded with the first request; hosts and origins were judged before (guards.ts), and what the
 * caller may do is judged again by every operation, with the caller's own credential.
 */
import type { Hono } from 'hono'
import type { Admit } from '../auth.ts'
import { type Answered, CALLER, type Door } from './door.ts'
import type { ApiDocument, Call } from './operation.ts'

const PATH = '/mcp'

const headersFor = (caller: Request | undefined): Record<string, string> => {
  const credential = caller?.headers.get('authorization') ?? null
  return { ...CALLER, ...(credential !== null && { authorization: credential }) }
}

const answered = async (response: Response): Promise<Answered> => {
  const document: unknown = await response.json()
  return response.ok ? { isOk: true, document } : { isOk: false, problem: document as never }
}

const doorOf = (app: Hono, caller: Request): Door => {
  const base = new URL(caller.url).origin
  return {
    pages: base,
    ask: async ({ method, path, body }: Call) =>
      answered(
        await app.request(`${base}${path}`, {
          method,
          headers: { ...headersFor(caller), ...(body !== undefined && { 'content-type': 'application/json' }) },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
      ),
  }
}

type Fetch = (request: Request) => Promise<Response>

const open = async (app: Hono, version: string): Promise<Fetch> => {
  const [{ createMcpHandler }, { createMcpServer }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('./server.ts'),
  ])
  const document = (await (await app.request('http://localhost/openapi.json')).json()) as ApiDocument
  const serve = (caller: Request) => createMcpServer(doorOf(app, caller), { version, document })
  const local = new Request('http://localhost/')
  return createMcpHandler(({ requestInfo }) => serve(requestInfo ?? local)).fetch
}

export const mountMcp = (app: Hono, version: string, admit: Admit): void => {
  let opened: Promise<Fetch> | null = null
  app.all(PATH, async (context) => {
    opened ??= open(app, version)
    return (await admit(context, 'viewer')) ?? (await opened)(context.req.raw)
  })
}
