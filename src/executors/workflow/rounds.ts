/**
 * Counts how often each step name was used in one entry of a handler.
 *
 * Owns the count. Every run in memory keeps one: while there are few names and none is repeated, a list takes a third of the memory of a map.
 */
const FEW = 16

export class Rounds {
  /** Names used exactly once. */
  #names: string[] = []
  /** Null while the list is enough. */
  #counts: Map<string, number> | null = null

  /** Returns how often the name was used before, and counts this use. */
  next(name: string): number {
    if (this.#counts !== null) return this.#count(this.#counts, name)
    if (this.#names.length < FEW && !this.#names.includes(name)) {
      this.#names.push(name)
      return 0
    }
    this.#counts = new Map(this.#names.map((used) => [used, 1]))
    this.#names = []
    return this.#count(this.#counts, name)
  }

  #count(counts: Map<string, number>, name: string): number {
    const before = counts.get(name) ?? 0
    counts.set(name, before + 1)
    return before
  }
}
