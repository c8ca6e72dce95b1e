/**
 * Queue for the process's connections.
 *
 * Owns the order and how many callers hold a connection at once. Waiting is no failure, however long the queue is. Only an unreachable
 * server is a failure, and then all waiters are rejected at once, since each would get the same error. Never opens a connection.
 */
interface Waiting {
  readonly admit: () => void
  readonly evict: (error: unknown) => void
}

export class WaitingLine {
  #free: number
  #line: Waiting[] = []

  constructor(places: number) {
    this.#free = places
  }

  /** Resolves when there is a free place. The caller gives it back with `leave`. */
  async enter(): Promise<void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((admit, evict) => this.#line.push({ admit, evict }))
  }

  leave(): void {
    const next = this.#line.shift()
    if (next === undefined) this.#free++
    else next.admit()
  }

  /** Rejects all waiters with the error of the one who tried. */
  disperse(error: unknown): void {
    const line = this.#line
    this.#line = []
    for (const { evict } of line) evict(error)
  }
}
