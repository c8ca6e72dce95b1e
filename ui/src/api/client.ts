/**
 * HTTP client for the server that served this page.
 *
 * Every failure is a `Problem` with a code and a hint. Does not cache: queries.ts does.
 */
import type { TaskDetail } from './documents.ts'
import { identityHeaders } from './me.ts'

export class Problem extends Error {
  readonly code: string
  readonly status: number
  readonly hint: string | null
  /** The current task, if the page showed an outdated one. */
  readonly task: TaskDetail | null

  constructor(code: string, status: number, detail: string, hint: string | null, task: TaskDetail | null = null) {
    super(detail)
    this.task = task
    this.code = code
    this.status = status
    this.hint = hint
  }
}

interface ProblemBody {
  readonly code?: string
  readonly detail?: string
  readonly title?: string
  readonly hint?: string
  readonly task?: TaskDetail
}

const UNREACHABLE = 'The server is not responding. Is `trihand dev` still running?'

/** The path prefix under which the page is mounted. */
export const mountPath = (): string => document.querySelector('meta[name="mount"]')?.getAttribute('content') ?? ''

export const problemOf = async (response: Response): Promise<Problem> => {
  const body = (await response.json().catch(() => ({}))) as ProblemBody
  const detail = body.detail ?? body.title ?? `The server responded with status ${response.status}.`
  return new Problem(body.code ?? 'INTERNAL', response.status, detail, body.hint ?? null, body.task ?? null)
}

let refused = (_status: number): void => {}

/** Registers a listener for the status of every failed response. */
export const whenRefused = (listener: (status: number) => void): void => {
  refused = listener
}

const request = async (path: string, init: RequestInit): Promise<Response> => {
  try {
    const response = await fetch(`${mountPath()}${path}`, init)
    if (!response.ok) refused(response.status)
    return response
  } catch {
    throw new Problem('SERVER_UNREACHABLE', 0, UNREACHABLE, null)
  }
}

/** Posts a form without fields. The response may be a redirect. */
export const postForm = async (path: string): Promise<void> => {
  const response = await request(path, { method: 'POST', redirect: 'manual' })
  if (!response.ok && response.type !== 'opaqueredirect') throw await problemOf(response)
}

export const getJson = async <Body>(path: string, signal?: AbortSignal): Promise<Body> => {
  const headers = { accept: 'application/json', ...identityHeaders() }
  const response = await request(path, { headers, ...(signal && { signal }) })
  if (!response.ok) throw await problemOf(response)
  return (await response.json()) as Body
}

export interface SendOptions {
  readonly method?: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly key?: string
  /** The version that this change is based on, sent as `If-Match`. */
  readonly match?: string
}

export const sendJson = async <Body>(path: string, body: unknown, options: SendOptions = {}): Promise<Body> => {
  const response = await request(path, {
    method: options.method ?? 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      ...identityHeaders(),
      ...(options.key === undefined ? {} : { 'idempotency-key': options.key }),
      ...(options.match === undefined ? {} : { 'if-match': options.match }),
    },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw await problemOf(response)
  return response.status === 204 ? (undefined as Body) : ((await response.json()) as Body)
}
