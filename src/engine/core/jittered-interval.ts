/**
 * Periodic work of a worker: each kind at its own interval, with jitter, so that processes do not run in step.
 *
 * Owns the timers. Never knows what the work is.
 */
import type { Clock } from '#ports/clock.ts'
import type { Ids } from '#ports/ids.ts'

export class JitteredInterval {
  private readonly clock: Clock
  private readonly ids: Pick<Ids, 'roll'>
  private readonly cancels: (() => void)[] = []

  constructor(clock: Clock, ids: Pick<Ids, 'roll'>) {
    this.clock = clock
    this.ids = ids
  }

  /** Repeats the work until `goesOn` returns false when the timer fires. */
  every(ms: number, work: () => void, goesOn: () => boolean): void {
    const index = this.cancels.push(() => {}) - 1
    const again = (): void => {
      // A spread of a fifth keeps many workers from asking at the same instant.
      const at = this.clock.now() + ms * (0.9 + this.ids.roll() / 5)
      this.cancels[index] = this.clock.at(at, () => {
        if (!goesOn()) return
        work()
        again()
      })
    }
    again()
  }

  stop(): void {
    for (const cancel of this.cancels) cancel()
  }
}
