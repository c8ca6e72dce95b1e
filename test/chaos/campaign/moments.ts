/**
 * Moments worth dying in: a task was read, a model is being asked, a mail is being sent, a decision is on its way.
 *
 * Owns who waits for which. The world around the killed process tells; the stage listens, and kills.
 */
export type Moment = 'read' | 'call' | 'mail' | 'decision'

export class Moments {
  readonly #waiting = new Map<Moment, (() => void)[]>()
  /** How many processes have lived before the one that lives now. */
  life = 0

  tell(moment: Moment): void {
    const waiting = this.#waiting.get(moment) ?? []
    this.#waiting.delete(moment)
    for (const settle of waiting) settle()
  }

  /** The next one of its kind. */
  next(moment: Moment): Promise<void> {
    return new Promise((settle) => this.#waiting.set(moment, [...(this.#waiting.get(moment) ?? []), settle]))
  }
}
