/**
 * How often each name of a step was used in one entry of a handler.
 *
 * Owns the count. Every run in memory keeps one: while there are few names and none comes twice, a list of them is a third of a map.
 */
const FEW = 16

export class Rounds {
  /** Used once each. */
  #names: string[] = []
  /** Null while the list will do. */
  #counts: Map<string, number> | null = null

  /** How often it was used before; from now on once more. */
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
