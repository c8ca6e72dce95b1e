/**
 * Builder for a list of plain values that is sent to another thread.
 *
 * Owns the allocation: a list that grows is copied again and again, and a list with holes is sent as pairs of index and value.
 */

/** Lists are sliced from this one, which has no holes. A longer list grows. */
const ROOM: null[] = []
for (let i = 0; i < 8_192; i++) ROOM.push(null)

export class Packing<Value> {
  readonly #values: (Value | null)[]
  #used = 0

  /** `size` is the approximate number of values. */
  constructor(size: number) {
    this.#values = ROOM.slice(0, size)
  }

  put(value: Value): void {
    this.#values[this.#used++] = value
  }

  putAll(values: readonly Value[]): void {
    for (const value of values) this.put(value)
  }

  end(): readonly Value[] {
    this.#values.length = this.#used
    return this.#values as Value[]
  }
}
