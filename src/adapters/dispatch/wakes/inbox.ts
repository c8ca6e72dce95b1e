/**
 * Inbox for wakes that an external engine delivers: passes each to the handler in a later turn of the loop, never before its instant and
 * never after the stop.
 *
 * Owns the part of dispatcher-2 about a stop. Another machine's clock may be ahead: a wake that is early here waits here.
 */
import type { ClaimableId, Instant } from '#model/kernel/ids.ts'
import type { Clock } from '#ports/clock.ts'

/** A wake that is early by more than clock skew is a fault elsewhere. This many are kept; the sweep finds the rest. */
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
    // Deferred: the sender gets its answer first, and a batch causes one read of the ledger.
    if (this.#woken.size === 0) this.#clock.defer(() => this.#tell())
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
