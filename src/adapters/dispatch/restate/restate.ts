/**
 * The public entry `trihand/restate`: Restate as the dispatcher of a system.
 *
 * Owns the check of its options. The SDK is loaded when the system opens; without it the error says how to install it.
 */
import { connect } from 'node:http2'
import { Inbox } from '#adapters/dispatch/wakes/inbox.ts'
import { Outbox } from '#adapters/dispatch/wakes/outbox.ts'
import { loadPeer } from '#adapters/peer.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { ClaimableId, Instant } from '#model/kernel/ids.ts'
import type { Clock } from '#ports/clock.ts'
import type { Dispatcher, DispatcherFactory } from '#ports/dispatcher.ts'
import { type RestateAddresses, ServerApi } from './server-api.ts'
import { RestateEndpoint, type RestateEndpointOptions } from './wake-endpoint.ts'

/*
 * Watches which worker is registered with Restate. Every worker checks periodically and registers itself if the registered one is gone.
 * Owns that watch. Workers behind one address see themselves; without the admin API an operator registers the address by hand.
 */

const LOOK_MS = 1_000
const PROBE_MS = 1_000
/** The registered worker counts as gone after this many silent checks in a row. One may be a pause. */
const PATIENCE = 2

class Registration {
  readonly #api: ServerApi
  readonly #own: string
  #timer: NodeJS.Timeout | null = null
  #isOpen = false
  #silences = 0

  constructor(api: ServerApi, own: string) {
    this.#api = api
    this.#own = own
  }

  /** Resolves after the first attempt, whether it succeeded or not. */
  async open(): Promise<void> {
    this.#isOpen = true
    await this.#tolerant(async () => {
      const server = await this.#api.servedBy()
      // Registers again even if the address is the same: this version may serve other handlers there.
      if (server === null || isSame(server, this.#own) || !(await answers(server))) await this.#api.register(this.#own)
    })
    this.#lookLater()
  }

  close(): void {
    this.#isOpen = false
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #lookLater(): void {
    if (!this.#isOpen) return
    const pause = LOOK_MS * (0.8 + Math.random() * 0.4)
    this.#timer = setTimeout(() => void this.#tolerant(() => this.#look()).then(() => this.#lookLater()), pause).unref()
  }

  async #look(): Promise<void> {
    const server = await this.#api.servedBy()
    const isServed = server !== null && (isSame(server, this.#own) || (await answers(server)))
    this.#silences = isServed ? 0 : this.#silences + 1
    if (server !== null && this.#silences < PATIENCE) return
    this.#silences = 0
    if (this.#isOpen) await this.#api.register(this.#own)
  }

  /** While Restate is unavailable the only remedy is to check again later; meanwhile the sweep wakes runs. */
  async #tolerant(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch {
      this.#silences = 0
    }
  }
}

const isSame = (one: string, other: string): boolean => new URL(one).href === new URL(other).href

/** True if an endpoint of Restate's protocol answers at this address. */
const answers = (uri: string): Promise<boolean> =>
  new Promise((resolve) => {
    const session = connect(uri)
    const finish = (isAlive: boolean): void => {
      resolve(isAlive)
      session.destroy()
    }
    session.on('error', () => finish(false))
    session.setTimeout(PROBE_MS, () => finish(false))
    const request = session.request({ ':path': new URL('health', withSlash(uri)).pathname })
    request.on('error', () => finish(false))
    request.on('response', (headers) => finish(headers[':status'] === 200))
  })

const withSlash = (uri: string): string => (uri.endsWith('/') ? uri : `${uri}/`)

/*
 * Dispatcher that sends wakes through Restate: a virtual object per run, called now or after a delay that Restate keeps.
 * Owns how outbox, server and registration are joined. Keeps no state in Restate: one invocation per wake, and the ledger is the truth.
 * While Restate is unavailable wakes are lost, and workers find due runs when they sweep.
 */

interface RestateDispatcherOptions extends Omit<RestateEndpointOptions, 'onWake'>, RestateAddresses {
  readonly clock: Clock
  /** The address at which Restate reaches the server; null: its own host and port. */
  readonly url: string | null
}

const LAST_WORDS_MS = 1_000

class RestateDispatcher implements Dispatcher {
  readonly #options: RestateDispatcherOptions
  readonly #api: ServerApi
  readonly #inbox: Inbox
  readonly #outbox: Outbox
  readonly #door: RestateEndpoint
  #registration: Registration | null = null
  #isStopped = false

  constructor(options: RestateDispatcherOptions) {
    const { clock, names } = options
    this.#options = options
    this.#api = new ServerApi(options, names)
    this.#inbox = new Inbox(clock)
    this.#outbox = new Outbox({ clock, send: (wakes) => this.#api.send(wakes, clock.now()) })
    this.#door = new RestateEndpoint({ ...options, onWake: (run, at) => this.#inbox.take(run, at) })
  }

  wake(run: ClaimableId, at: Instant): void {
    if (!this.#isStopped) this.#outbox.add(run, at)
  }

  async start(handler: (run: ClaimableId) => void): Promise<void> {
    this.#isStopped = false
    this.#inbox.open(handler)
    await this.#door.open()
    if (this.#options.admin === null || this.#registration !== null) return
    const { host, url } = this.#options
    this.#registration = new Registration(this.#api, url ?? `http://${host}:${this.#door.port}`)
    await this.#registration.open()
  }

  check(): Promise<string | null> {
    return this.#api.trouble()
  }

  /** Flushes the wakes that are still queued; wakes that arrive for this worker from now on are delivered elsewhere. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#inbox.close()
    this.#registration?.close()
    this.#registration = null
    await this.#door.close()
    await this.#outbox.flush(LAST_WORDS_MS)
  }
}

/*
 * `Promise.withResolvers` for Node 20: Restate's SDK needs it and the runtime lacks it.
 * Owns that one name. Adds it only where it is missing, and only when this dispatcher is chosen.
 */

interface Resolvers<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T | PromiseLike<T>) => void
  readonly reject: (reason?: unknown) => void
}

const withResolvers = <T>(): Resolvers<T> => {
  let resolve: Resolvers<T>['resolve'] = () => {}
  let reject: Resolvers<T>['reject'] = () => {}
  const promise = new Promise<T>((one, other) => {
    resolve = one
    reject = other
  })
  return { promise, resolve, reject }
}

const provideWithResolvers = (): void => {
  if ('withResolvers' in Promise) return
  Object.defineProperty(Promise, 'withResolvers', { value: withResolvers, writable: true, configurable: true })
}

export interface RestateOptions {
  /** Address that wakes are sent to, for example `http://127.0.0.1:8080`. */
  readonly ingress: string
  /** Address where workers register themselves, for example `http://127.0.0.1:9070`. Absent: an operator registers `url` by hand. */
  readonly admin?: string
  /** Host on which this process listens for Restate. Default 127.0.0.1. */
  readonly host?: string
  /** Port on which it listens. Default: any free port. */
  readonly port?: number
  /** Address at which Restate reaches this process, if not host and port: a container's name, or one address for many workers. */
  readonly url?: string
  /** Public keys of the Restate cluster (`publickeyv1_…`); required unless everything is on loopback. */
  readonly identityKeys?: readonly string[]
  /** Bearer token sent to ingress and admin. */
  readonly token?: string
  /** Distinguishes systems that share a Restate. Default `trihand`. */
  readonly name?: string
}

const NAME = /^[a-z][a-z0-9-]{0,62}$/
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '::1', '[::1]'])

const address = (what: string, text: string): string => {
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new TrihandError(
      'CONFIG_INVALID',
      `restate: ${what} is ${text}; expected an address like http://127.0.0.1:8080`,
    )
  return text.replace(/\/+$/, '')
}

/** S22: anyone who reaches the server from outside could send any number of wakes. */
const requireIdentity = ({ host = '127.0.0.1', url, identityKeys = [] }: RestateOptions): void => {
  const hosts = [host, ...(url === undefined ? [] : [new URL(url).hostname])]
  const foreign = hosts.find((one) => !LOOPBACK.has(one))
  if (foreign !== undefined && identityKeys.length === 0)
    throw new TrihandError('CONFIG_INVALID', `restate: identityKeys are required to be reached at ${foreign}`)
}

const checked = (options: RestateOptions) => {
  const { host = '127.0.0.1', port = 0, identityKeys = [], token = null, name = 'trihand' } = options
  if (!NAME.test(name))
    throw new TrihandError('CONFIG_INVALID', `restate: name is ${name}; expected lower-case letters, digits and -`)
  const url = options.url === undefined ? null : address('url', options.url)
  requireIdentity(options)
  return {
    ingress: address('ingress', options.ingress),
    admin: options.admin === undefined ? null : address('admin', options.admin),
    names: { object: `${name}-run`, many: `${name}-wakes` },
    ...{ host, port, url, identityKeys, token },
  }
}

/** Uses Restate as dispatcher: `createTrihand({ …, dispatcher: restate({ ingress, admin }) })`. */
export const restate = (options: RestateOptions): DispatcherFactory => {
  const settings = checked(options)
  return async (clock) => {
    provideWithResolvers()
    const sdk = await loadPeer('@restatedev/restate-sdk', () => import('@restatedev/restate-sdk'))
    const dispatcher = new RestateDispatcher({ ...settings, sdk, clock })
    return { dispatcher, endpoint: null, check: () => dispatcher.check() }
  }
}
