/**
 * Which worker Restate calls: the one that is registered. Every worker looks now and then and steps in for one that is gone.
 *
 * Owns that watch. Workers behind one address see themselves; without an admin door somebody registers by hand.
 */
import { connect } from 'node:http2'
import type { ServerApi } from './server-api.ts'

const LOOK_MS = 1_000
const PROBE_MS = 1_000
/** Silent this often in a row: gone. Once may be a pause. */
const PATIENCE = 2

export class Registration {
  readonly #api: ServerApi
  readonly #own: string
  #timer: NodeJS.Timeout | null = null
  #isOpen = false
  #silences = 0

  constructor(api: ServerApi, own: string) {
    this.#api = api
    this.#own = own
  }

  /** Answers after the first attempt, whether it succeeded or not. */
  async open(): Promise<void> {
    this.#isOpen = true
    await this.#tolerant(async () => {
      const server = await this.#api.servedBy()
      // Registered again even if the address is the same: this version may serve other handlers there.
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

  /** While Restate is away there is nothing to do but to look again: the sweep wakes meanwhile. */
  async #tolerant(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch {
      this.#silences = 0
    }
  }
}

const isSame = (one: string, other: string): boolean => new URL(one).href === new URL(other).href

/** Whether an endpoint of Restate's protocol lives there. */
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
