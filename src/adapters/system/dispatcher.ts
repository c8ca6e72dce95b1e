/**
 * Dispatcher within one process: a heap of runs by instant, and one timer for the first of them.
 *
 * Keeps one wake per run, the earliest requested, so that its size is bounded by the number of waiting runs. Keeps nothing across a
 * restart: the worker's sweep finds due runs in the ledger.
 */
import { Heap } from '#model/kernel/heap.ts'
import type { ClaimableId, Instant } from '#model/kernel/ids.ts'
import type { Clock } from '#ports/clock.ts'
import type { Dispatcher } from '#ports/dispatcher.ts'

interface Wake {
  readonly run: ClaimableId
  readonly at: Instant
  readonly order: number
}

const isSooner = (a: Wake, b: Wake): boolean => (a.at === b.at ? a.order < b.order : a.at < b.at)

export class InProcessDispatcher implements Dispatcher {
  readonly #clock: Clock
  readonly #wakes = new Heap<Wake>(isSooner)
  readonly #byRun = new Map<ClaimableId, Wake>()
  #handler: ((run: ClaimableId) => void) | null = null
  #timer: { readonly at: Instant; readonly cancel: () => void } | null = null
  #order = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wake(run: ClaimableId, at: Instant): void {
    const known = this.#byRun.get(run)
    if (known !== undefined && known.at <= at) return
    if (known !== undefined) this.#wakes.remove(known)
    const wake = { run, at, order: this.#order++ }
    this.#byRun.set(run, wake)
    this.#wakes.add(wake)
    this.#setTimer()
  }

  async start(handler: (run: ClaimableId) => void): Promise<void> {
    this.#handler = handler
    this.#setTimer()
  }

  async stop(): Promise<void> {
    this.#handler = null
    this.#timer?.cancel()
    this.#timer = null
  }

  #setTimer(): void {
    const first = this.#wakes.first()
    if (this.#handler === null || first === undefined) return
    if (this.#timer !== null && this.#timer.at <= first.at) return
    this.#timer?.cancel()
    this.#timer = { at: first.at, cancel: this.#clock.at(first.at, () => this.#fire()) }
  }

  /** Sets the timer before it calls the handler: a handler may wake, stop or throw, and the dispatcher goes on. */
  #fire(): void {
    this.#timer = null
    const due = this.#takeDue(this.#clock.now())
    this.#setTimer()
    for (const run of due) this.#handler?.(run)
  }

  #takeDue(now: Instant): readonly ClaimableId[] {
    const due: ClaimableId[] = []
    for (let first = this.#wakes.first(); first !== undefined && first.at <= now; first = this.#wakes.first()) {
      this.#wakes.remove(first)
      this.#byRun.delete(first.run)
      due.push(first.run)
    }
    return due
  }
}
