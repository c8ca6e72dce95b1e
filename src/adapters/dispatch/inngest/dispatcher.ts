/**
 * Dispatcher that sends wakes through Inngest: one event and one function run per wake, at the instant that the event names.
 *
 * Owns how outbox, inbox and function are joined. Keeps no state in Inngest, and the function has no steps: the ledger is the truth.
 */
import { Inbox } from '#adapters/dispatch/wakes/inbox.ts'
import { Outbox, type Wake } from '#adapters/dispatch/wakes/outbox.ts'
import { type ClaimableId, type Instant, isClaimable, isStreamId } from '#model/kernel/ids.ts'
import type { Clock } from '#ports/clock.ts'
import type { Dispatcher } from '#ports/dispatcher.ts'
import type { InngestClient } from './sdk.ts'

export interface InngestDispatcherOptions {
  readonly client: InngestClient
  readonly clock: Clock
  /** Distinguishes systems that share an Inngest app. */
  readonly name: string
}

const SEND_MS = 5_000
const LAST_WORDS_MS = 1_000

/** The SDK sets no timeout on its requests; a wake is not worth waiting for. */
const within = async (work: Promise<unknown>, ms: number): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const isOver = new Promise<void>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  try {
    await Promise.race([work, isOver])
  } finally {
    clearTimeout(timer)
  }
}

export class InngestDispatcher implements Dispatcher {
  /** The function that Inngest calls. */
  readonly fn: never
  readonly #options: InngestDispatcherOptions
  readonly #inbox: Inbox
  readonly #outbox: Outbox
  #isStarted = false
  #isStopped = false

  constructor(options: InngestDispatcherOptions) {
    const { client, clock, name } = options
    this.#options = options
    this.#inbox = new Inbox(clock)
    this.#outbox = new Outbox({ clock, send: (wakes) => this.#send(wakes) })
    this.fn = client.createFunction(
      { id: `${name}-wake`, name: `${name}: wake a run`, triggers: [{ event: this.#event }], retries: 2 },
      async ({ event }) => this.#take(event.data),
    ) as never
  }

  /** Why the last wake could not be sent, if that was recent. Null: it was sent, or the outcome is not known. */
  get trouble(): string | null {
    return this.#outbox.trouble(this.#options.clock.now())
  }

  get isStarted(): boolean {
    return this.#isStarted
  }

  wake(run: ClaimableId, at: Instant): void {
    if (!this.#isStopped) this.#outbox.add(run, at)
  }

  async start(handler: (run: ClaimableId) => void): Promise<void> {
    this.#isStopped = false
    this.#isStarted = true
    this.#inbox.open(handler)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#isStarted = false
    this.#inbox.close()
    await this.#outbox.flush(LAST_WORDS_MS)
  }

  get #event(): string {
    return `${this.#options.name}/run.wake`
  }

  #send(wakes: readonly Wake[]): Promise<void> {
    const events = wakes.map(({ run, at }) => ({ name: this.#event, data: { run, at }, ts: Math.ceil(at) }))
    return within(this.#options.client.send(events), SEND_MS)
  }

  #take(data: unknown): void {
    if (typeof data !== 'object' || data === null) return
    const [run, at] = [Reflect.get(data, 'run'), Reflect.get(data, 'at')]
    if (typeof run !== 'string' || !isStreamId(run) || !isClaimable(run)) return
    if (typeof at === 'number' && Number.isFinite(at)) this.#inbox.take(run, at)
  }
}
