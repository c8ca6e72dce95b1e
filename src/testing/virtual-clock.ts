/**
 * Manual time: nothing happens until a test moves it, and then everything in one order, by instant and then by insertion.
 *
 * Owns the order of callbacks. Between two of them every promise that can continue has continued. Knows nothing of real timers or
 * sockets: code that waits for those is not idle, but the clock cannot see it.
 */
import type { Instant } from '#model/kernel/ids.ts'
import type { Clock } from '#ports/clock.ts'

// Captured at import, so that a test which replaces the global timers does not stop the draining.
const nextMacrotask = setImmediate
const drain = (): Promise<void> => new Promise((resolve) => nextMacrotask(resolve))

const MAX_CALLS = 1_000_000

export interface PendingCall {
  readonly kind: 'turn' | 'timer'
  readonly at: Instant
}

interface Entry extends PendingCall {
  readonly callback: () => void
}

/** Manual time for tests: `await clock.advance(86_400_000)`. */
export class VirtualClock implements Clock {
  /** By instant, then by insertion. */
  readonly #entries: Entry[] = []
  #now: Instant

  constructor(start: Instant = 0) {
    this.#now = start
  }

  /** The current time, in milliseconds since the Unix epoch. */
  now(): Instant {
    return this.#now
  }

  /** Calls back at an instant; returns a function that cancels it. */
  at(instant: Instant, callback: () => void): () => void {
    const entry: Entry = { kind: 'timer', at: Math.max(instant, this.#now), callback }
    this.#insert(entry)
    return () => this.#remove(entry)
  }

  /** Calls back in the next turn. */
  defer(callback: () => void): void {
    this.#insert({ kind: 'turn', at: this.#now, callback })
  }

  /** The pending calls, in order. `fire` takes an index into this list. */
  pending(): readonly PendingCall[] {
    return this.#entries.slice()
  }

  /** The instant of the first pending call; null if there is none. Cheap, however many there are. */
  get nextAt(): Instant | null {
    return this.#entries[0]?.at ?? null
  }

  /** Makes one pending call, moving time to its instant if that lies ahead. The others stay, even if that makes them late. */
  async fire(index: number): Promise<void> {
    const [entry] = this.#entries.splice(index, 1)
    if (entry === undefined) throw new RangeError(`no pending call ${index}: there are ${this.#entries.length}`)
    this.#now = Math.max(this.#now, entry.at)
    entry.callback()
    await drain()
  }

  /** Makes every call that is due within this time, in order, then stops at its end. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms
    await this.#fireWhile((entry) => entry.at <= end)
    this.#now = end
  }

  /** Jumps from call to call until none is left. Code that keeps setting timers is stopped with an error. */
  async runUntilIdle(): Promise<void> {
    await this.#fireWhile(() => true)
  }

  async #fireWhile(holds: (first: Entry) => boolean): Promise<void> {
    await drain()
    for (let calls = 0; calls < MAX_CALLS; calls++) {
      const first = this.#entries[0]
      if (first === undefined || !holds(first)) return
      await this.fire(0)
    }
    throw new Error(`still not idle after ${MAX_CALLS} calls; next at ${this.#entries[0]?.at}`)
  }

  #insert(entry: Entry): void {
    let place = this.#entries.length
    while (place > 0 && (this.#entries[place - 1]?.at ?? 0) > entry.at) place -= 1
    this.#entries.splice(place, 0, entry)
  }

  #remove(entry: Entry): void {
    const place = this.#entries.indexOf(entry)
    if (place >= 0) this.#entries.splice(place, 1)
  }
}
