/**
 * Questions to the store that are gathered while a stream is read and asked together, so that one round trip serves hundreds.
 *
 * Holds at most one batch and what one stream has asked.
 */
const SIZE = 500

export class Batch<Question> {
  readonly #ask: (questions: readonly Question[]) => Promise<void>
  #waiting: Question[] = []

  constructor(ask: (questions: readonly Question[]) => Promise<void>) {
    this.#ask = ask
  }

  add(question: Question): void {
    this.#waiting.push(question)
  }

  /** Between two streams: asks if there is enough to ask. */
  async settle(): Promise<void> {
    if (this.#waiting.length >= SIZE) await this.end()
  }

  /** Asks what is left. */
  async end(): Promise<void> {
    const questions = this.#waiting
    this.#waiting = []
    for (let from = 0; from < questions.length; from += SIZE) await this.#ask(questions.slice(from, from + SIZE))
  }
}
