/**
 * The system's clock, and callbacks on the event loop.
 *
 * clock-1  A callback runs at or after its instant by `now()`, never before: a timer that fires early is set again.
 * clock-2  No single timer is longer than an hour, however far the instant. Node fires one beyond 2^31-1 ms at once, and after a jump
 *          of the wall clock no callback is more than an hour late.
 */
import type { Instant } from '#model/kernel/ids.ts'
import type { Clock } from '#ports/clock.ts'

const MAX_HOP_MS = 3_600_000

export interface SystemClockOptions {
  /** False: pending timers do not keep the process alive. */
  readonly keepsAlive?: boolean
}

export class SystemClock implements Clock {
  readonly #keepsAlive: boolean

  constructor(options: SystemClockOptions = {}) {
    this.#keepsAlive = options.keepsAlive ?? true
  }

  now(): Instant {
    return Date.now()
  }

  /** Not `performance.now()`: its first call loads a dozen modules of Node, 3 % of a start. */
  monotonic(): number {
    const [seconds, nanos] = process.hrtime()
    return seconds * 1_000 + nanos / 1e6
  }

  at(instant: Instant, callback: () => void): () => void {
    let timer: NodeJS.Timeout
    const hop = (): void => {
      const hopMs = Math.min(instant - this.now(), MAX_HOP_MS)
      timer = setTimeout(() => (this.now() < instant ? hop() : callback()), hopMs)
      if (!this.#keepsAlive) timer.unref()
    }
    hop()
    return () => clearTimeout(timer)
  }

  defer(callback: () => void): void {
    setImmediate(callback)
  }
}
