/**
 * The connection over which the processes of a ledger notify each other of runs that are worth claiming.
 *
 * Owns its life: it reconnects by itself, with growing pauses, and notices a silent peer. Hints only: messages while it is down are lost,
 * and nothing depends on them. Never part of a ledger transaction: a NOTIFY there would serialise all of them.
 */
import pg from 'pg'
import { clientConfig, type PoolOptions } from './pool.ts'

export interface WireOptions extends Pick<PoolOptions, 'url' | 'schema'> {
  readonly channel: string
  /** Receives messages of other processes, never those that this wire sent itself. */
  readonly onMessage: (payload: string) => void
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 2000
const HEARTBEAT_MS = 10_000

export class Wire {
  readonly #options: WireOptions
  #client: pg.Client | null = null
  #connecting: Promise<void> | null = null
  #retry: NodeJS.Timeout | null = null
  #heartbeat: NodeJS.Timeout | null = null
  #pauseMs = FIRST_PAUSE_MS
  #isOpen = false

  constructor(options: WireOptions) {
    this.#options = options
  }

  /** Resolves after the first attempt, whether it succeeded or not. */
  async open(): Promise<void> {
    this.#isOpen = true
    await this.#connect()
  }

  send(payload: string): void {
    this.#isOpen = true
    const client = this.#client
    if (client !== null) return this.#notify(client, payload)
    // The first message opens the connection and is sent then; while it is down nothing is queued.
    void this.#connect().then(() => {
      if (this.#client !== null) this.#notify(this.#client, payload)
    })
  }

  #notify(client: pg.Client, payload: string): void {
    client
      .query({ name: 'notify', text: 'select pg_notify($1, $2)', values: [this.#options.channel, payload] })
      .catch(() => this.#drop(client))
  }

  async close(): Promise<void> {
    this.#isOpen = false
    if (this.#retry !== null) clearTimeout(this.#retry)
    this.#retry = null
    await this.#connecting
    const client = this.#client
    this.#forget()
    await client?.end().catch(() => undefined)
  }

  #connect(): Promise<void> {
    if (!this.#isOpen || this.#client !== null) return Promise.resolve()
    this.#connecting ??= this.#attempt().finally(() => {
      this.#connecting = null
    })
    return this.#connecting
  }

  async #attempt(): Promise<void> {
    const { channel, onMessage, ...place } = this.#options
    const config = clientConfig(place)
    // A hint need not survive a crash, so its commit need not wait for the disk.
    const client = new pg.Client({ ...config, options: `${config.options} -c synchronous_commit=off` })
    client.on('error', () => this.#drop(client))
    client.on('end', () => this.#drop(client))
    client.on('notification', ({ processId, payload }) => {
      if (processId !== pidOf(client)) onMessage(payload ?? '')
    })
    try {
      await client.connect()
      await client.query(`listen ${channel}`)
      this.#client = client
      this.#pauseMs = FIRST_PAUSE_MS
      this.#heartbeat = setInterval(
        () => client.query('select 1').catch(() => this.#drop(client)),
        HEARTBEAT_MS,
      ).unref()
    } catch {
      client.end().catch(() => undefined)
      this.#tryLater()
    }
  }

  /** Discards a failed connection once, no matter which of its errors arrives first. */
  #drop(client: pg.Client): void {
    if (client !== this.#client) return
    this.#forget()
    client.end().catch(() => undefined)
    this.#tryLater()
  }

  #forget(): void {
    if (this.#heartbeat !== null) clearInterval(this.#heartbeat)
    this.#heartbeat = null
    this.#client = null
  }

  #tryLater(): void {
    if (!this.#isOpen || this.#retry !== null) return
    const pause = this.#pauseMs * (0.5 + Math.random() / 2)
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS)
    this.#retry = setTimeout(() => {
      this.#retry = null
      void this.#connect()
    }, pause).unref()
  }
}

/** The driver keeps the server's process id, but its types do not say so. */
const pidOf = (client: pg.Client): unknown => ('processID' in client ? client.processID : null)
