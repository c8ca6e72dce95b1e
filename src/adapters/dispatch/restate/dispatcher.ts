/**
 * Wakes through Restate: a virtual object per run, called now or after a delay that Restate keeps.
 *
 * Owns how outbox, door and registration are joined. No state of ours lives there: one invocation per wake, and the ledger stays the
 * truth. While Restate is away wakes are lost, and workers find due runs when they look.
 */
import { Inbox } from '#adapters/dispatch/wakes/inbox.ts'
import { Outbox } from '#adapters/dispatch/wakes/outbox.ts'
import type { ClaimableId, Instant } from '#model/kernel/ids.ts'
import type { Clock } from '#ports/clock.ts'
import type { Dispatcher } from '#ports/dispatcher.ts'
import { Door, type DoorOptions } from './door.ts'
import { Registration } from './registration.ts'
import { type Doors, ServerApi } from './server-api.ts'

export interface RestateDispatcherOptions extends Omit<DoorOptions, 'onWake'>, Doors {
  readonly clock: Clock
  /** Where Restate reaches the door; null: at its own host and port. */
  readonly url: string | null
}

const LAST_WORDS_MS = 1_000

export class RestateDispatcher implements Dispatcher {
  readonly #options: RestateDispatcherOptions
  readonly #api: ServerApi
  readonly #inbox: Inbox
  readonly #outbox: Outbox
  readonly #door: Door
  #registration: Registration | null = null
  #isStopped = false

  constructor(options: RestateDispatcherOptions) {
    const { clock, names } = options
    this.#options = options
    this.#api = new ServerApi(options, names)
    this.#inbox = new Inbox(clock)
    this.#outbox = new Outbox({ clock, send: (wakes) => this.#api.send(wakes, clock.now()) })
    this.#door = new Door({ ...options, onWake: (run, at) => this.#inbox.take(run, at) })
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

  /** What was woken is still told to the others; what comes for this worker from now on is delivered elsewhere. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#inbox.close()
    this.#registration?.close()
    this.#registration = null
    await this.#door.close()
    await this.#outbox.flush(LAST_WORDS_MS)
  }
}
