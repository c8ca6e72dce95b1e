/**
 * The real application on a real engine, asked without a socket.
 *
 * Owns the opening and the reading of answers. The ledger is the memory one: nothing outlives a test.
 */
import type { Hono } from 'hono'
import { createTrihand, type Trihand, type TrihandOptions } from '../../src/assemble.ts'
import { createApp } from '../../src/http/app.ts'
import type { Service } from '../../src/http/service.ts'
import type { SystemSource } from '../../src/manifest/define.ts'
import { isEnded } from '../../src/model/status.ts'
import { until } from './until.ts'

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

export class HttpApp {
  readonly trihand: Trihand
  /** What was reported as a bug. */
  readonly reported: unknown[] = []
  readonly #app: Hono

  constructor(trihand: Trihand, disturb: (service: Service) => Service) {
    this.trihand = trihand
    this.#app = createApp(disturb(trihand), {
      version: '0.0.0',
      pid: 1,
      report: (_, error) => this.reported.push(error),
    })
  }

  /** The answer itself: streams are read as they come. */
  async open(path: string, init: RequestInit = {}): Promise<Response> {
    return this.#app.request(path, init)
  }

  async ask(path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await this.open(path, init)
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: parse(text) }
  }

  post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    return this.ask(path, { method: 'POST', body: text, headers: { 'content-type': 'application/json', ...headers } })
  }

  /** Sends an event and gives the id of the one run that it started. */
  async started(type: string, data: unknown = {}): Promise<string> {
    const { body } = await this.post('/api/events', { type, data })
    if (body?.runs?.length !== 1) throw new Error(`${type} did not start one run: ${JSON.stringify(body)}`)
    return body.runs[0]
  }

  /** The run, once it has this status. */
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
  options: Partial<TrihandOptions> = {},
): Promise<HttpApp> =>
  new HttpApp(await createTrihand({ system, database: 'memory:', drain: 100, ...options }), disturb)
