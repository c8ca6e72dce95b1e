/**
 * `trihand/client`: the server's API as typed calls, for browsers and Node, without the rest of the package.
 *
 * Owns calls and their retries. Never caches, never checks what the server checks.
 *
 * client-2  One call has one Idempotency-Key, kept over its retries: however often it is sent, it is executed once.
 */
import { type Api, ROUTES } from '#http/openapi/api.ts'
import { refusedBy, unreachable } from './client-error.ts'
import { type News, newsFrom, type StreamOptions } from './client-stream.ts'

const TRIES = 4
const FIRST_PAUSE_MS = 200
const TIMEOUT_MS = 30_000
const KEY_BYTES = 16
const SECOND_MS = 1_000

/** Where the server is, and who calls: `{ url: 'http://127.0.0.1:4400', token }`. */
export interface ClientOptions {
  /** The server's address, with the path where it is mounted, if any. */
  readonly url: string
  /** A token of the ledger, from `trihand token create`. Default: none. */
  readonly token?: string
  /** Sent with every request: on loopback, `x-trihand-user` names the caller. Default: none. */
  readonly headers?: Readonly<Record<string, string>>
  /** What sends the requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch
  /**
   * The wait before the first retry of a call or a stream, in milliseconds; it doubles with each retry. Default: 200 for a call, 1,000 for a stream.
   */
  readonly pauseMs?: number
}

/** How one call is sent: `{ signal: AbortSignal.timeout(5_000) }`. */
export interface CallOptions {
  /** Replaces the random key of this call: another call with the same key counts as the same call. Default: a new key. */
  readonly key?: string
  /** Ends the call. Default: each try ends after 30 s. */
  readonly signal?: AbortSignal
}

interface Given {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: unknown
}

/** An operation without required input may be called without arguments. */
type Input<Id extends keyof Api> =
  Record<never, never> extends Api[Id]['input']
    ? [input?: Api[Id]['input'], options?: CallOptions]
    : [input: Api[Id]['input'], options?: CallOptions]

/** The server's API as typed calls. */
export interface Client {
  /** Calls an operation by its id; retries while the server is unreachable, and is still executed once. */
  call<Id extends keyof Api>(id: Id, ...input: Input<Id>): Promise<Api[Id]['output']>
  /** Returns what changes, from now on or after a position; goes on after broken connections. */
  stream(options?: StreamOptions): AsyncGenerator<News>
}

const newKey = (): string => {
  // biome-ignore lint/style/noRestrictedGlobals: a caller's key is drawn where the call is made; no ledger is near
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

const queryText = (query: Given['query'] = {}): string => {
  const given = Object.entries(query).filter((entry): entry is [string, string | number] => entry[1] !== undefined)
  const text = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()
  return text === '' ? '' : `?${text}`
}

const pathText = (path: string, names: Given['path'] = {}): string =>
  path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(names[name] ?? ''))

const answerOf = async (response: Response): Promise<unknown> => {
  if (!response.ok) throw await refusedBy(response)
  const text = await response.text()
  return text === '' ? null : JSON.parse(text)
}

/** Another process has begun this very request and may have died: after the given seconds the server knows. */
const isAtWork = ({ status, headers }: Response): boolean =>
  status === 409 && /^\d+$/.test(headers.get('retry-after') ?? '')

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

class HttpClient implements Client {
  private readonly base: string
  private readonly headers: Readonly<Record<string, string>>
  private readonly fetch: typeof fetch
  private readonly pauseMs: number | undefined

  constructor({ url, token, headers = {}, fetch: given, pauseMs }: ClientOptions) {
    this.base = url.replace(/\/+$/, '')
    this.headers = { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) }
    this.fetch = given ?? ((input, init) => fetch(input, init))
    this.pauseMs = pauseMs
  }

  async call<Id extends keyof Api>(id: Id, ...[input, options = {}]: Input<Id>): Promise<Api[Id]['output']> {
    const [method = '', path = ''] = ROUTES[id].split(' ')
    const { path: names, query, body } = (input ?? {}) as Given
    const { signal } = options
    const headers = {
      ...this.headers,
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(method === 'GET' ? {} : { 'idempotency-key': options.key ?? newKey() }),
    }
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const response = await this.insist(`${pathText(path, names)}${queryText(query)}`, init, signal)
    return (await answerOf(response)) as Api[Id]['output']
  }

  stream(options: StreamOptions = {}): AsyncGenerator<News> {
    const connect = (after: string | undefined, { topics, signal }: StreamOptions): Promise<Response> =>
      this.fetch(`${this.base}/api/stream${queryText({ topics: topics?.join(','), after })}`, {
        headers: { ...this.headers, accept: 'text/event-stream' },
        ...(signal === undefined ? {} : { signal }),
      })
    return newsFrom({ connect, ...(this.pauseMs === undefined ? {} : { firstPauseMs: this.pauseMs }) }, options)
  }

  /** client-2. A server that is unreachable, or answers 503, may be back in a moment. */
  private async insist(path: string, init: RequestInit, signal: AbortSignal | undefined): Promise<Response> {
    for (let tried = 1; ; tried++) {
      const last = tried === TRIES
      try {
        const ends = AbortSignal.timeout(TIMEOUT_MS)
        const response = await this.fetch(`${this.base}${path}`, {
          ...init,
          signal: signal === undefined ? ends : AbortSignal.any([signal, ends]),
        })
        const mayRepeat = response.status === 503 || isAtWork(response)
        if (!mayRepeat || last) return response
        await response.body?.cancel()
        if (isAtWork(response)) {
          await wait(Number(response.headers.get('retry-after')) * SECOND_MS)
          continue
        }
      } catch (error) {
        if (signal?.aborted === true) throw error
        if (last) throw unreachable(this.base, error)
      }
      await wait((this.pauseMs ?? FIRST_PAUSE_MS) * 2 ** (tried - 1))
    }
  }
}

/**
 * Creates a client of a server, for browsers and Node.
 *
 * ```ts
 * const client = createClient({ url: 'http://127.0.0.1:4400', token })
 * const { runs } = await client.call('sendEvent', { body: { type: 'order.paid', data: { id: 17 } } })
 * for await (const { topic, id } of client.stream({ topics: ['runs'] })) console.log(topic, id)
 * ```
 */
export const createClient = (options: ClientOptions): Client => new HttpClient(options)

export type { Api, Json, Notice, Problem } from '#http/openapi/api.ts'
export { TrihandError } from './client-error.ts'
export type { News, StreamOptions } from './client-stream.ts'
