/**
 * How verbs talk to a system: the HTTP interface, whether a server is behind it or the ledger was opened right here.
 *
 * Owns the two ways to ask and the reading of answers. A verb cannot tell them apart, so there is one behaviour to test.
 */
import { createTrihand } from '../assemble.ts'
import { createApp } from '../http/app.ts'
import type { Problem } from '../http/problem.ts'
import type { SystemSource } from '../manifest/define.ts'
import { TrihandError } from '../model/errors.ts'
import { Refused } from './output.ts'
import { VERSION } from './version.ts'

export interface Api {
  get<Document>(path: string): Promise<Document>
  post<Document>(path: string, body: unknown): Promise<Document>
  /** The ledger was opened by this process: nobody else works on it. */
  readonly isLocal: boolean
  close(): Promise<void>
}

type Ask = (path: string, init: RequestInit) => Promise<Response>

const TIMEOUT_MS = 30_000
const PROBLEM = 'application/problem+json'

const documentOf = async (response: Response, where: string): Promise<unknown> => {
  const type = response.headers.get('content-type') ?? ''
  if (!type.startsWith('application/json') && !type.startsWith(PROBLEM)) {
    throw new TrihandError(
      'SERVER_UNREACHABLE',
      `${where} answers, but not as a trihand server does (${response.status} ${type})`,
    )
  }
  const document: unknown = await response.json()
  if (!response.ok) throw new Refused(document as Problem)
  return document
}

const apiOver = (ask: Ask, where: string, rest: Pick<Api, 'isLocal' | 'close'>): Api => ({
  get: async <Document>(path: string) => (await documentOf(await ask(path, {}), where)) as Document,
  post: async <Document>(path: string, body: unknown) => {
    const init = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    return (await documentOf(await ask(path, init), where)) as Document
  },
  ...rest,
})

const causeOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return cause instanceof Error ? cause.message : String(cause)
}

/** A server at this address. */
export const remoteApi = (url: string): Api => {
  const base = url.replace(/\/+$/, '')
  const ask: Ask = async (path, init) => {
    try {
      return await fetch(`${base}${path}`, { ...init, signal: AbortSignal.timeout(TIMEOUT_MS) })
    } catch (error) {
      throw new TrihandError('SERVER_UNREACHABLE', `${base} does not answer: ${causeOf(error)}`, { cause: error })
    }
  }
  return apiOver(ask, base, { isLocal: false, close: () => Promise.resolve() })
}

export interface LocalOptions {
  readonly database: string
  /** Null: only look, perform nothing. */
  readonly system: SystemSource | null
  readonly complain: (text: string) => void
}

const NOTHING: SystemSource = { name: 'nothing' }

/** The ledger itself, opened for this call. */
export const localApi = async ({ database, system, complain }: LocalOptions): Promise<Api> => {
  const trihand = await createTrihand({ system: system ?? NOTHING, database, work: system !== null })
  const report = (errorId: string, error: unknown): void =>
    complain(`${errorId}: ${error instanceof Error ? error.stack : String(error)}`)
  const app = createApp(trihand, { version: VERSION, pid: process.pid, report })
  return apiOver(async (path, init) => app.request(path, init), database, {
    isLocal: true,
    close: () => trihand.close(),
  })
}
