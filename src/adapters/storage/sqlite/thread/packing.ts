/**
 * A list of plain values on its way to another thread, while it is being made.
 *
 * Owns the room: a list that is grown is copied again and again, and one that was made with holes travels as pairs of place and value.
 */

/** Lists are cut from this one, which has no holes. A longer one grows. */
const ROOM: null[] = []
for (let i = 0; i < 8_192; i++) ROOM.push(null)

export class Packing<Value> {
  readonly #values: (Value | null)[]
  #used = 0

  /** For about so many values. */
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
