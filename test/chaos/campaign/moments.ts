/**
 * The moments at which the process is killed: a task was read, a model is being called, a mail is being sent, a decision is in flight.
 *
 * Owns the waiting for a moment. The services around the killed process report moments; the stage waits for one, and kills.
 */
import { until } from '#test/support/until.ts'

export type Moment = 'read' | 'call' | 'mail' | 'decision'

export class Moments {
  readonly #counts = new Map<Moment, number>()
  /** How many processes have lived before the current one. */
  life = 0

  report(moment: Moment): void {
    this.#counts.set(moment, this.#count(moment) + 1)
  }

  /** Resolves at the next moment of this kind; false: none came within the limit. */
  async next(moment: Moment, timeoutMs: number): Promise<boolean> {
    const before = this.#count(moment)
    const isHere = (): boolean => this.#count(moment) > before
    await until(isHere, (holds) => holds, { timeoutMs, everyMs: 1, what: `a ${moment}` }).catch(() => {})
    return isHere()
  }

  #count(moment: Moment): number {
    return this.#counts.get(moment) ?? 0
  }
}
