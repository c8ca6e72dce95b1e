/**
 * Moments worth dying in: a task was read, a model is being asked, a mail is being sent, a decision is on its way.
 *
 * Owns who waits for which. The world around the killed process tells; the stage listens, and kills.
 */
import { until } from '#test/support/until.ts'

export type Moment = 'read' | 'call' | 'mail' | 'decision'

export class Moments {
  readonly #told = new Map<Moment, number>()
  /** How many processes have lived before the one that lives now. */
  life = 0

  tell(moment: Moment): void {
    this.#told.set(moment, this.#count(moment) + 1)
  }

  /** Settles with the next one of its kind; false: none came for so long. */
  async next(moment: Moment, timeoutMs: number): Promise<boolean> {
    const before = this.#count(moment)
    const isHere = (): boolean => this.#count(moment) > before
    await until(isHere, (holds) => holds, { timeoutMs, everyMs: 1, what: `a ${moment}` }).catch(() => {})
    return isHere()
  }

  #count(moment: Moment): number {
    return this.#told.get(moment) ?? 0
  }
}
