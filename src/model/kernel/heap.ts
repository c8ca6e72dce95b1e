/**
 * A binary heap: gives its first item at any time, and can also remove any other.
 *
 * An item must not change its place in the order while it is in the heap.
 */
export class Heap<Item extends object> {
  readonly #items: Item[] = []
  readonly #places = new Map<Item, number>()
  readonly #isBefore: (a: Item, b: Item) => boolean

  constructor(isBefore: (a: Item, b: Item) => boolean) {
    this.#isBefore = isBefore
  }

  get size(): number {
    return this.#items.length
  }

  first(): Item | undefined {
    return this.#items[0]
  }

  /** In no particular order. */
  items(): readonly Item[] {
    return this.#items
  }

  add(item: Item): void {
    if (this.#places.has(item)) return
    this.#put(this.#items.length, item)
    this.#rise(this.#items.length - 1)
  }

  remove(item: Item): void {
    const place = this.#places.get(item)
    if (place === undefined) return
    const last = this.#items.pop() as Item
    this.#places.delete(item)
    if (last === item) return
    this.#put(place, last)
    this.#rise(place)
    this.#sink(place)
  }

  #put(place: number, item: Item): void {
    this.#items[place] = item
    this.#places.set(item, place)
  }

  #swap(a: number, b: number): void {
    const held = this.#items[a] as Item
    this.#put(a, this.#items[b] as Item)
    this.#put(b, held)
  }

  #isOutOfOrder(upper: number, lower: number): boolean {
    return this.#isBefore(this.#items[lower] as Item, this.#items[upper] as Item)
  }

  #rise(from: number): void {
    let place = from
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (!this.#isOutOfOrder(parent, place)) return
      this.#swap(parent, place)
      place = parent
    }
  }

  #sink(from: number): void {
    let place = from
    for (;;) {
      let smallest = place
      for (const child of [2 * place + 1, 2 * place + 2]) {
        if (child < this.#items.length && this.#isOutOfOrder(smallest, child)) smallest = child
      }
      if (smallest === place) return
      this.#swap(place, smallest)
      place = smallest
    }
  }
}
