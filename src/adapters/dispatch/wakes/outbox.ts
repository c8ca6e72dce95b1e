/**
 * Outbox for wakes to an external engine: queues them while others are being sent, so that the caller never waits.
 *
 * Owns batching and its bounds. Holds hints only: a wake that does not fit, or cannot be sent, is dropped; the sweep finds it in the ledger.
 */
import type { ClaimableId, Instant } from '#model/kernel/ids.ts'
import type { Clock } from '#ports/clock.ts'

export interface Wake {
  readonly run: ClaimableId
  readonly at: Instant
}

export interface OutboxOptions {
  readonly clock: Pick<Clock, 'defer' | 'now'>
  /** Sends one batch; must settle within a bounded time. On failure these hints are lost. */
  readonly send: (wakes: readonly Wake[]) => Promise<void>
}

const MAX_BATCH = 256
const MAX_WAITING = 10_000
const MAX_IN_FLIGHT = 4
const REMEMBERED_MS = 30_000

export class Outbox {
  readonly #options: OutboxOptions
  /** One wake per run: the earliest requested instant. */
  readonly #waiting = new Map<ClaimableId, Instant>()
  readonly #inFlight = new Set<Promise<void>>()
  #isScheduled = false
  #failed: { readonly at: Instant; readonly why: string } | null = null

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  add(run: ClaimableId, at: Instant): void {
    const known = this.#waiting.get(run)
    if (known === undefined ? this.#waiting.size >= MAX_WAITING : known <= at) return
    this.#waiting.set(run, at)
    if (this.#isScheduled) return
    this.#isScheduled = true
    // All wakes of this turn of the loop are sent together.
    this.#options.clock.defer(() => {
      this.#isScheduled = false
      this.#sendSome()
    })
  }

  /** Why the last batch was not sent. Expires after a while: without further sends there is no newer result. */
  trouble(now: Instant): string | null {
    return this.#failed === null || now - this.#failed.at > REMEMBERED_MS ? null : this.#failed.why
  }

  /** Resolves when everything that was added has been sent, or has been dropped because the time is over. */
  async flush(withinMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const isOver = new Promise<'over'>((resolve) => {
      timer = setTimeout(resolve, withinMs, 'over')
    })
    this.#sendSome()
    while (this.#inFlight.size > 0) if ((await Promise.race([isOver, ...this.#inFlight])) === 'over') break
    clearTimeout(timer)
    this.#waiting.clear()
  }

  #sendSome(): void {
    while (this.#waiting.size > 0 && this.#inFlight.size < MAX_IN_FLIGHT) {
      const sending = this.#options
        .send(this.#take())
        .then(
          () => {
            this.#failed = null
          },
          (error: unknown) => {
            this.#failed = { at: this.#options.clock.now(), why: String(error) }
          },
        )
        .then(() => {
          this.#inFlight.delete(sending)
          this.#sendSome()
        })
      this.#inFlight.add(sending)
    }
  }

  #take(): readonly Wake[] {
    const batch: Wake[] = []
    for (const [run, at] of this.#waiting) {
      if (batch.length === MAX_BATCH) break
      batch.push({ run, at })
      this.#waiting.delete(run)
    }
    return batch
  }
}
