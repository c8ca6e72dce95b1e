/**
 * The connection of commands to a system: the HTTP API of a server, or of a ledger that was opened in this process (local-api.ts).
 *
 * Owns the reading of responses. A command cannot tell the two apart, so there is one behaviour to test.
 */
import { Refused } from '#cli/terminal/output.ts'
import type { Problem } from '#http/server/problem.ts'
import { TrihandError } from '#model/kernel/errors.ts'

export type Headers = Readonly<Record<string, string>>

export interface Api {
  get<Document>(path: string, headers?: Headers): Promise<Document>
  post<Document>(path: string, body: unknown, headers?: Headers): Promise<Document>
  delete<Document>(path: string, headers?: Headers): Promise<Document>
  /** The ledger was opened by this process: no other process works on it. */
  readonly isLocal: boolean
  /** The address of the server's pages; null: there is no server. */
  readonly url: string | null
  close(): Promise<void>
}

export type Ask = (path: string, init: RequestInit) => Promise<Response>

const TIMEOUT_MS = 30_000
const PROBLEM = 'application/problem+json'

const documentOf = async (response: Response, where: string): Promise<unknown> => {
  const type = response.headers.get('content-type') ?? ''
  if (!type.startsWith('application/json') && !type.startsWith(PROBLEM)) {
    throw new TrihandError(
      'SERVER_UNREACHABLE',
      `${where} answers, but is not a trihand server (${response.status} ${type})`,
    )
  }
  const document: unknown = await response.json()
  if (!response.ok) throw new Refused(document as Problem)
  return document
}

export const apiOver = (ask: Ask, where: string, rest: Pick<Api, 'isLocal' | 'url' | 'close'>): Api => ({
  get: async <Document>(path: string, headers: Headers = {}) =>
    (await documentOf(await ask(path, { headers }), where)) as Document,
  post: async <Document>(path: string, body: unknown, headers: Headers = {}) => {
    const all = { ...headers, 'content-type': 'application/json' }
    const init = { method: 'POST', body: JSON.stringify(body), headers: all }
    return (await documentOf(await ask(path, init), where)) as Document
  },
  delete: async <Document>(path: string, headers: Headers = {}) =>
    (await documentOf(await ask(path, { method: 'DELETE', headers }), where)) as Document,
  ...rest,
})

const causeOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? cause.message : String(cause)
}

/** The API of a server at this address. `token`: the caller's credential, if the server requires one. */
export const remoteApi = (url: string, token: string | undefined): Api => {
  const base = url.replace(/\/+$/, '')
  const ask: Ask = async (path, init) => {
    try {
      const headers = { ...init.headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }
      return await fetch(`${base}${path}`, { ...init, headers, signal: AbortSignal.timeout(TIMEOUT_MS) })
    } catch (error) {
      throw new TrihandError('SERVER_UNREACHABLE', `${base} does not answer: ${causeOf(error)}`, { cause: error })
    }
  }
  return apiOver(ask, base, { isLocal: false, url: base, close: () => Promise.resolve() })
}
