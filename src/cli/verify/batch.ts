/**
 * Questions to the store that are gathered and asked together, so that a round trip serves hundreds of them.
 *
 * Never holds more than one batch.
 */
const SIZE = 500

export class Batch<Question> {
  readonly #ask: (questions: readonly Question[]) => Promise<void>
  #waiting: Question[] = []

  constructor(ask: (questions: readonly Question[]) => Promise<void>) {
    this.#ask = ask
  }

  async add(question: Question): Promise<void> {
    this.#waiting.push(question)
    if (this.#waiting.length >= SIZE) await this.flush()
  }

  async flush(): Promise<void> {
    const questions = this.#waiting
    this.#waiting = []
    if (questions.length > 0) await this.#ask(questions)
  }
}
