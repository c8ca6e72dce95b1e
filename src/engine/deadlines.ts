/**
 * Many timeouts, one timer: most never fire, so setting and clearing one costs a set operation.
 *
 * Owns when the one timer must be armed. Nothing here is durable: a timeout of a step ends with the process that performs it.
 */
import type { Instant } from '../model/ids.ts'
import type { Clock } from '../ports/clock.ts'

export interface Deadline {
  readonly at: Instant
  pass(): void
}

export class Deadlines {
  private readonly clock: Clock
  private readonly pending = new Set<Deadline>()
  private armedAt = Number.POSITIVE_INFINITY
  private disarm: () => void = () => {}

  constructor(clock: Clock) {
    this.clock = clock
  }

  add(deadline: Deadline): void {
    this.pending.add(deadline)
    if (deadline.at < this.armedAt) this.arm(deadline.at)
  }

  remove(deadline: Deadline): void {
    this.pending.delete(deadline)
  }

  stop(): void {
    this.pending.clear()
    this.disarm()
    this.armedAt = Number.POSITIVE_INFINITY
  }

  private arm(at: Instant): void {
    this.disarm()
    this.armedAt = at
    this.disarm = this.clock.at(at, () => this.fire())
  }

  private fire(): void {
    this.armedAt = Number.POSITIVE_INFINITY
    const now = this.clock.now()
    let next = Number.POSITIVE_INFINITY
    for (const deadline of [...this.pending]) {
      if (deadline.at > now) {
        next = Math.min(next, deadline.at)
      } else {
        this.pending.delete(deadline)
        deadline.pass()
      }
    }
    if (next < this.armedAt) this.arm(next)
  }
}
