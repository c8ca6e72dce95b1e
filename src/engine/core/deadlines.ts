/**
 * Many timeouts that share one timer. Most never fire, so setting or clearing one only changes two links of a list.
 *
 * Owns when the timer is armed. Nothing here is durable: a timeout of a step ends with the process that performs the step.
 */
import type { Instant } from '#model/kernel/ids.ts'
import type { Clock } from '#ports/clock.ts'

/** Holds its own links: a `Set` of thousands of entries that changes with every step would rebuild its table all the time. */
export abstract class Deadline {
  abstract readonly at: Instant
  before: Deadline | null = null
  after: Deadline | null = null
  abstract pass(): void
}

export class Deadlines {
  private readonly clock: Clock
  private first: Deadline | null = null
  private last: Deadline | null = null
  private armedAt = Number.POSITIVE_INFINITY
  private disarm: () => void = () => {}

  constructor(clock: Clock) {
    this.clock = clock
  }

  add(deadline: Deadline): void {
    if (deadline.at === Number.POSITIVE_INFINITY) return
    deadline.before = this.last
    if (this.last === null) this.first = deadline
    else this.last.after = deadline
    this.last = deadline
    if (deadline.at < this.armedAt) this.arm(deadline.at)
  }

  /** Does nothing for a deadline that was never added or has passed. */
  remove(deadline: Deadline): void {
    const { before, after } = deadline
    if (before === null && this.first !== deadline) return
    if (before === null) this.first = after
    else before.after = after
    if (after === null) this.last = before
    else after.before = before
    deadline.before = null
    deadline.after = null
  }

  stop(): void {
    this.first = null
    this.last = null
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
    for (const deadline of this.pending()) {
      if (deadline.at > now) {
        next = Math.min(next, deadline.at)
      } else {
        this.remove(deadline)
        deadline.pass()
      }
    }
    if (next < this.armedAt) this.arm(next)
  }

  private pending(): readonly Deadline[] {
    const pending: Deadline[] = []
    for (let one = this.first; one !== null; one = one.after) pending.push(one)
    return pending
  }
}
