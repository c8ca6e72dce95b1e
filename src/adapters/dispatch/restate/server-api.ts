/**
 * Client for Restate's HTTP APIs: the ingress takes wakes, the admin API knows which worker serves them.
 *
 * Owns the addresses, the token and the timeout of a call. Every answer that is not a success is an error; nothing is retried here.
 */
import type { Wake } from '#adapters/dispatch/wakes/outbox.ts'

export interface RestateAddresses {
  readonly ingress: string
  readonly admin: string | null
  readonly token: string | null
}

export interface Names {
  /** The virtual object: one per run. */
  readonly object: string
  /** The service that takes many wakes at once. */
  readonly many: string
}

/** One wake of a batch on the wire: run, instant, milliseconds from now. */
export type WireWake = readonly [run: string, at: number, delayMs: number]

const CALL_MS = 2_000

export class ServerApi {
  readonly #doors: RestateAddresses
  readonly #names: Names

  constructor(doors: RestateAddresses, names: Names) {
    this.#doors = doors
    this.#names = names
  }

  /** Sends a single wake to its object directly; sends several in one call, and the service spreads them. */
  async send(wakes: readonly Wake[], now: number): Promise<void> {
    const [first, ...others] = wakes.map(({ run, at }): WireWake => [run, at, Math.max(0, Math.ceil(at - now))])
    if (first === undefined) return
    const { ingress } = this.#doors
    if (others.length > 0) {
      await this.#call('POST', `${ingress}/${this.#names.many}/send/send`, [first, ...others])
      return
    }
    const [run, at, delayMs] = first
    const delay = delayMs === 0 ? '' : `?delay=${delayMs}ms`
    await this.#call('POST', `${ingress}/${this.#names.object}/${run}/wake/send${delay}`, at)
  }

  /** Why the ingress takes no wakes; null: it takes them. */
  async trouble(): Promise<string | null> {
    const url = `${this.#doors.ingress}/restate/health`
    try {
      const { ok, status } = await fetch(url, { signal: AbortSignal.timeout(CALL_MS) })
      return ok ? null : `${url} answers ${status}`
    } catch (error) {
      return `${url} does not answer: ${reasonOf(error)}`
    }
  }

  /** Registers this address as the one that Restate calls. */
  async register(uri: string): Promise<void> {
    if (this.#doors.admin !== null) await this.#call('POST', `${this.#doors.admin}/deployments`, { uri, force: true })
  }

  /** The address that serves the objects now; null if none is registered. */
  async servedBy(): Promise<string | null> {
    const { admin } = this.#doors
    const service = await this.#call('GET', `${admin}/services/${this.#names.object}`)
    if (service === null) return null
    const deployment = await this.#call('GET', `${admin}/deployments/${textOf(service, 'deployment_id')}`)
    return deployment === null ? null : textOf(deployment, 'uri')
  }

  /** Null: a GET was answered with 404, or the answer has no body. */
  async #call(method: 'GET' | 'POST', url: string, body?: unknown): Promise<unknown> {
    const { token } = this.#doors
    const response = await fetch(url, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      },
      signal: AbortSignal.timeout(CALL_MS),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (response.status === 404 && method === 'GET') return null
    if (!response.ok) throw new Error(`${method} ${url} was answered with ${response.status}: ${text.slice(0, 200)}`)
    return text === '' ? null : JSON.parse(text)
  }
}

/** `fetch` puts the reason into the cause. */
const reasonOf = (error: unknown): string =>
  error instanceof Error
    ? error.cause instanceof Error
      ? error.cause.message || error.message
      : error.message
    : String(error)

const textOf = (answer: unknown, field: string): string => {
  const value = typeof answer === 'object' && answer !== null ? Reflect.get(answer, field) : undefined
  if (typeof value !== 'string') throw new Error(`Restate's answer has no ${field}`)
  return value
}
