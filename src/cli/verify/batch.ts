/**
 * Collects queries to the store while a stream is read and sends them together, so that one round trip serves hundreds.
 *
 * Holds at most one batch and the queries of one stream.
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

  /** Called between two streams: sends the queries if there are enough. */
  async settle(): Promise<void> {
    if (this.#waiting.length >= SIZE) await this.end()
  }

  /** Sends the remaining queries. */
  async end(): Promise<void> {
    const questions = this.#waiting
    this.#waiting = []
    for (let from = 0; from < questions.length; from += SIZE) await this.#ask(questions.slice(from, from + SIZE))
  }
}
