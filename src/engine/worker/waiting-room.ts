/**
 * The bounded queue before the ledger: a fixed number of calls is served at once, a bounded number waits, the others are refused.
 *
 * Owns how many calls wait, how long the first has waited, and in which order they enter. Never knows what they contain.
 *
 * waiting-room-1  A new call is refused (OVERLOADED) when the queue is full, or when the first call in it has waited too long: a call that
 *                 cannot be served soon fails at once, instead of seconds of latency for every caller.
 * waiting-room-2  A call that has entered the queue is served in the order of arrival, and never refused afterwards.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import type { Instant } from '#model/kernel/ids.ts'
import type { Clock } from '#ports/clock.ts'

export interface WaitingLimits {
  /** Maximum number of calls that wait. */
  readonly queue: number
  /** New calls are refused once the first in the queue has waited this long. */
  readonly waitMs: number
}

interface Waiting {
  readonly since: Instant
  readonly enter: () => void
}

/** When at least this many entries were served, the served part of the array may be cut off. */
const CUT_AT = 1_024

export class WaitingRoom {
  private readonly clock: Pick<Clock, 'now'>
  private readonly places: number
  private readonly limits: WaitingLimits
  private inside = 0
  private queue: Waiting[] = []
  /** Index of the first call that waits; the entries before it were served. */
  private head = 0

  constructor(clock: Pick<Clock, 'now'>, places: number, limits: WaitingLimits) {
    this.clock = clock
    this.places = places
    this.limits = limits
  }

  get waiting(): number {
    return this.queue.length - this.head
  }

  /** How long the first in the queue has waited. */
  get oldestMs(): number {
    const first = this.queue[this.head]
    return first === undefined ? 0 : this.clock.now() - first.since
  }

  /** `isPatient`: the call is never refused, because no caller would retry it. */
  async serve<T>(work: () => Promise<T>, isPatient = false): Promise<T> {
    if (this.inside < this.places) this.inside++
    else {
      if (!isPatient) this.refuseIfFull()
      await this.wait()
    }
    try {
      return await work()
    } finally {
      this.leave()
    }
  }

  private refuseIfFull(): void {
    const { waiting, oldestMs, limits } = this
    if (waiting < limits.queue && oldestMs < limits.waitMs) return
    const what = `${waiting} calls wait, the first for ${oldestMs} ms`
    throw new TrihandError('OVERLOADED', `the ledger cannot store calls as fast as they arrive: ${what}`)
  }

  private wait(): Promise<void> {
    return new Promise((enter) => {
      this.queue.push({ since: this.clock.now(), enter })
    })
  }

  /** The free place goes to the first call in the queue, never to a new call. */
  private leave(): void {
    const next = this.queue[this.head]
    if (next === undefined) {
      this.inside--
      return
    }
    this.head++
    if (this.head >= CUT_AT && this.head * 2 >= this.queue.length) {
      this.queue = this.queue.slice(this.head)
      this.head = 0
    }
    next.enter()
  }
}
