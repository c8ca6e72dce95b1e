/**
 * Questions of the same moment, asked of the server together: each statement is a round trip, and costs the server as much as some ten rows.
 * 10,000 chat messages at once (W18) ask 4,000 statements less of every 5,000 so.
 *
 * Owns the gathering. Never keeps an answer: a question that comes later is asked anew. A failure is told to all that asked together.
 */
interface Waiting<Question, Answer> {
  readonly question: Question
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

export class Gathered<Question, Answer> {
  readonly #askAll: (questions: readonly Question[]) => Promise<readonly Answer[]>
  readonly #most: number
  #waiting: Waiting<Question, Answer>[] = []

  /** `askAll` answers in the order of the questions; it is given `most` at once at most. */
  constructor(askAll: (questions: readonly Question[]) => Promise<readonly Answer[]>, most: number) {
    this.#askAll = askAll
    this.#most = most
  }

  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject })
      // Everything that is ready now has its turn first, and asks, too.
      if (this.#waiting.length === 1) setImmediate(() => this.#flush())
    })
  }

  #flush(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (let from = 0; from < waiting.length; from += this.#most)
      void this.#answer(waiting.slice(from, from + this.#most))
  }

  async #answer(waiting: readonly Waiting<Question, Answer>[]): Promise<void> {
    try {
      const answers = await this.#askAll(waiting.map(({ question }) => question))
      for (const [i, { resolve }] of waiting.entries()) resolve(answers[i] as Answer)
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }
}
