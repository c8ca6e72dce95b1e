/**
 * Inngest's side of the protocol, as far as a wake needs it: accepts events, learns an app's functions by a signed sync, calls them.
 *
 * Owns the request protocol of SDK version 4: `POST /e/<key>` for events, `PUT` in-band sync, `POST ?fnId=…&stepId=step` per call, each
 * signed over the canonical body. Repeats a failed call as often as the function asks. Keeps nothing when it ends.
 */
import { createHmac, randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { canonical, type Json } from '#model/kernel/json.ts'

interface Event {
  readonly name: string
  readonly ts: number
  readonly data: Json
}

interface SyncedFunction {
  readonly id: string
  readonly triggers: readonly { readonly event?: string }[]
  readonly steps: {
    readonly step: { readonly runtime: { readonly url: string }; readonly retries?: { readonly attempts: number } }
  }
}

const REPEAT_MS = 50
/** A function as an account stores it. */
const CONCURRENCY = 16

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

export class InngestServer {
  readonly signingKey = 'signkey-test-8ee2262a15e8d3c42d6a840db7af3de2aab08ef632b32a37a687f24b34dba3ff'
  readonly eventKey = 'test-event-key'
  /** The status of every call. */
  readonly statuses: number[] = []
  readonly #server: Server
  readonly #timers = new Set<NodeJS.Timeout>()
  #functions: readonly SyncedFunction[] = []
  readonly #waiting: (() => Promise<void>)[] = []
  #atWork = 0
  #isOpen = false

  constructor() {
    this.#server = createServer((request, response) => {
      void this.#takeEvents(request).then(({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(JSON.stringify(body))
      })
    })
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.#isOpen = true
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async close(): Promise<void> {
    this.#isOpen = false
    for (const timer of this.#timers) clearTimeout(timer)
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  /** Syncs the functions of an app; from then on their events are delivered. */
  async sync(app: string): Promise<number> {
    const response = await this.call('PUT', app, { url: app }, { 'x-inngest-sync-kind': 'in_band' })
    const answer = (await response.json()) as { readonly functions?: readonly SyncedFunction[] }
    this.#functions = answer.functions ?? []
    return this.#functions.length
  }

  /** Makes a call like Inngest. Another signature may be given, or none. */
  call(method: string, url: string, body: Json, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const hasBody = method !== 'GET'
    const signature = this.sign(hasBody ? canonical(body) : '')
    return fetch(url, {
      method,
      headers: {
        'content-type': 'application/json',
        'x-inngest-signature': signature,
        'x-inngest-server-kind': 'cloud',
        ...headers,
      },
      ...(hasBody ? { body: JSON.stringify(body) } : {}),
    })
  }

  sign(text: string, at: number = Date.now()): string {
    const seconds = Math.round(at / 1_000).toString()
    const secret = this.signingKey.replace(/^signkey-\w+-/, '')
    return `t=${seconds}&s=${createHmac('sha256', secret).update(text).update(seconds).digest('hex')}`
  }

  async #takeEvents(request: IncomingMessage): Promise<{ readonly status: number; readonly body: Json }> {
    const text = await textOf(request)
    if (request.method !== 'POST' || request.url !== `/e/${this.eventKey}`)
      return { status: 401, body: { status: 401, error: 'Event key not found' } }
    const parsed = JSON.parse(text) as Event | readonly Event[]
    const events = Array.isArray(parsed) ? (parsed as readonly Event[]) : [parsed as Event]
    for (const event of events) this.#schedule(event)
    return { status: 200, body: { status: 200, ids: events.map(() => randomUUID()) } }
  }

  #schedule(event: Event): void {
    const wanted = this.#functions.filter(({ triggers }) => triggers.some((trigger) => trigger.event === event.name))
    for (const fn of wanted) this.#later(event.ts - Date.now(), () => this.#deliver(fn, event, 0))
  }

  #later(ms: number, work: () => Promise<void>): void {
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer)
        this.#waiting.push(work)
        void this.#workOff()
      },
      Math.max(0, ms),
    )
    this.#timers.add(timer)
  }

  async #workOff(): Promise<void> {
    if (this.#atWork === CONCURRENCY) return
    this.#atWork++
    for (let work = this.#waiting.shift(); work !== undefined && this.#isOpen; work = this.#waiting.shift())
      await work()
    this.#atWork--
  }

  async #deliver(fn: SyncedFunction, event: Event, attempt: number): Promise<void> {
    const { runtime, retries } = fn.steps.step
    const named = { ...event, id: randomUUID() }
    const ctx = {
      run_id: randomUUID(),
      fn_id: fn.id,
      attempt,
      disable_immediate_execution: false,
      use_api: false,
      stack: { stack: [], current: 0 },
    }
    const body = { version: 1, event: named, events: [named], steps: {}, ctx }
    const status = await this.call('POST', runtime.url, body).then(
      (response) => response.status,
      () => 0,
    )
    this.statuses.push(status)
    const isWorthRepeating = status === 0 || status >= 500
    if (this.#isOpen && isWorthRepeating && attempt < (retries?.attempts ?? 3))
      this.#later(REPEAT_MS, () => this.#deliver(fn, event, attempt + 1))
  }
}
