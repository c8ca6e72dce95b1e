/**
 * Those who wait until one of the process's connections is free.
 *
 * Owns the order and how many hold a connection at once. Waiting is no failure, however long the line is: only a server that cannot be
 * reached is, and then everybody in the line hears it at once, since each would find the same. Never opens a connection.
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

  /** Comes back when there is a place. Whoever has one gives it back with `leave`. */
  async enter(): Promise<void> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((admit, evict) => this.#line.push({ admit, evict }))
  }

  leave(): void {
    const next = this.#line.shift()
    if (next === undefined) this.#free++
    else next.admit()
  }

  /** For one in the line the reason is as good as for the one who met it. */
  disperse(error: unknown): void {
    const line = this.#line
    this.#line = []
    for (const { evict } of line) evict(error)
  }
}
