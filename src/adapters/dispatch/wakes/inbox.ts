/**
 * Wakes that an engine outside delivers: told to the worker at its own turn, never before their instant and never after the stop.
 *
 * Owns what dispatcher-2 promises of a stop. Another machine's clock may be ahead: a wake that is early here waits here.
 */
import type { ClaimableId, Instant } from '#model/kernel/ids.ts'
import type { Clock } from '#ports/clock.ts'

/** A wake that is early by more than skew is a mistake of somebody; so many of them are kept, the sweep has the rest. */
const MAX_EARLY = 10_000

export class Inbox {
  readonly #clock: Clock
  readonly #early = new Map<ClaimableId, () => void>()
  #woken = new Set<ClaimableId>()
  #handler: ((run: ClaimableId) => void) | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  open(handler: (run: ClaimableId) => void): void {
    this.#handler = handler
  }

  close(): void {
    this.#handler = null
    for (const cancel of this.#early.values()) cancel()
    this.#early.clear()
    this.#woken.clear()
  }

  take(run: ClaimableId, at: Instant): void {
    if (this.#handler === null) return
    if (at > this.#clock.now()) return this.#hold(run, at)
    // Not at once: whoever delivers is answered first, and a batch becomes one look into the ledger.
    if (this.#woken.size === 0) this.#clock.turn(() => this.#tell())
    this.#woken.add(run)
  }

  #tell(): void {
    const woken = this.#woken
    this.#woken = new Set()
    for (const run of woken) this.#handler?.(run)
  }

  #hold(run: ClaimableId, at: Instant): void {
    if (this.#early.has(run) || this.#early.size >= MAX_EARLY) return
    const cancel = this.#clock.at(at, () => {
      this.#early.delete(run)
      this.take(run, at)
    })
    this.#early.set(run, cancel)
  }
}
