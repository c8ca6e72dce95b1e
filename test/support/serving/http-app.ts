/**
 * The real application on a real engine, called without a socket.
 *
 * Owns the opening and the reading of answers. Checks each answer against the description of its route. The ledger is in memory: nothing
 * outlives a test.
 */
import type { Hono } from 'hono'
import { createTrihand, type Trihand, type TrihandOptions } from '#compose/assemble.ts'
import type { AuthSettings } from '#http/access/auth-settings.ts'
import type { Peer } from '#http/server/address.ts'
import type { Limits } from '#http/server/allowance.ts'
import { createApp } from '#http/server/app.ts'
import type { Service } from '#http/server/service.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { isEnded } from '#model/run/status.ts'
import { Described } from '#test/support/described.ts'
import { until } from '#test/support/until.ts'

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into any document without ceremony
  readonly body: any
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Many tests open the same API: its description is compiled once. */
const descriptions = new Map<string, Described>()

const describedBy = (document: string): Described => {
  const described = descriptions.get(document) ?? new Described(JSON.parse(document))
  descriptions.set(document, described)
  return described
}

/** Disables the rate limit, because a test of all routes calls faster than any caller may. */
const UNLIMITED: Limits = { requestRate: null, streams: 1_000_000 }

interface Shown {
  readonly auth?: AuthSettings
  readonly limits?: Limits
}

export class HttpApp {
  readonly trihand: Trihand
  /** Errors that were reported as bugs. */
  readonly reported: unknown[] = []
  readonly #app: Hono
  #described: Described | null = null

  constructor(trihand: Trihand, disturb: (service: Service) => Service, { auth, limits = UNLIMITED }: Shown = {}) {
    this.trihand = trihand
    this.#app = createApp(disturb(trihand), {
      version: '0.0.0',
      pid: 1,
      // The tests of a process share its event loop, so load of another test must not count.
      loopDelay: () => ({ p50Ms: 0, p99Ms: 0, maxMs: 0 }),
      report: (_, error) => this.reported.push(error),
      limits,
      ...(auth === undefined ? {} : { auth }),
    })
  }

  /** The raw answer: streams are read as they arrive. */
  async open(path: string, init: RequestInit = {}, peer: Peer = {}): Promise<Response> {
    return this.#app.request(path, init, peer)
  }

  /** For a socket. */
  async fetch(request: Request): Promise<Response> {
    return this.#app.fetch(request)
  }

  /** The routes as the router has them. */
  get routes(): readonly { readonly method: string; readonly path: string }[] {
    return this.#app.routes
  }

  async ask(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await this.open(path, init)
    const text = await response.text()
    await this.#hold(path, init, response, text)
    return { status: response.status, headers: response.headers, text, body: parse(text) }
  }

  async #hold(path: string, init: RequestInit, { status, headers }: Response, text: string): Promise<void> {
    this.#described ??= describedBy(await (await this.#app.request('/openapi.json')).text())
    const given = new Headers(init.headers)
    // In the binary mode of CloudEvents a body is data, whatever its type.
    const isPlain = typeof init.body === 'string' && !given.has('ce-specversion')
    const sent = isPlain ? parse(init.body as string) : undefined
    const sentType = given.get('content-type') ?? ''
    const type = headers.get('content-type') ?? ''
    const { method = 'GET' } = init
    const fault = this.#described.fault({ method, path, sent, sentType, status, type, text })
    if (fault !== null) throw new Error(`${method} ${path} answered ${status}: ${fault}\n${text.slice(0, 500)}`)
  }

  post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return this.ask(path, { method: 'POST', body: text, headers: { 'content-type': 'application/json', ...headers } })
  }

  /** Sends an event and returns the id of the one run that it started. */
  async started(type: string, data: unknown = {}): Promise<string> {
    const { body } = await this.post('/api/events', { type, data })
    if (body?.runs?.length !== 1) throw new Error(`${type} did not start one run: ${JSON.stringify(body)}`)
    return body.runs[0]
  }

  /** Returns the run, once it has this status. */
  async when(id: string, status: string): Promise<Answer['body']> {
    const { body } = await until(
      () => this.ask(`/api/runs/${id}`),
      (answer) => answer.body.status === status || isEnded(answer.body.status),
      { what: `run ${id} is ${status}` },
    )
    return body
  }

  close(): Promise<void> {
    return this.trihand.close()
  }
}

/** `disturb` puts a fault between the application and the engine. */
export const openApp = async (
  system: SystemSource,
  disturb: (service: Service) => Service = (service) => service,
  { auth, limits, ...options }: Partial<TrihandOptions> & Shown = {},
): Promise<HttpApp> =>
  new HttpApp(await createTrihand({ system, database: 'memory:', drain: 100, ...options }), disturb, {
    ...(auth === undefined ? {} : { auth }),
    ...(limits === undefined ? {} : { limits }),
  })
