/**
 * A first-in, first-out queue in which each item holds the link to the next.
 *
 * Owns the links. An array that is emptied and filled again with every batch would be allocated anew each time.
 */
export interface QueueItem<Self> {
  /** The next item. Only the queue changes it; null at first, and while the item is in no queue. */
  behind: Self | null
}

export class IntrusiveQueue<Item extends QueueItem<Item>> {
  private first: Item | null = null
  private last: Item | null = null

  get isEmpty(): boolean {
    return this.first === null
  }

  /** Appends an item that is in no queue. */
  add(item: Item): void {
    if (this.last === null) this.first = item
    else this.last.behind = item
    this.last = item
  }

  /** Removes and returns the oldest item; null if the queue is empty. */
  take(): Item | null {
    const { first } = this
    if (first === null) return null
    this.first = first.behind
    if (this.first === null) this.last = null
    first.behind = null
    return first
  }

  /** Puts all items of another queue before those of this one, in their order; the other queue is empty afterwards. */
  letIn(others: IntrusiveQueue<Item>): void {
    if (others.last === null) return
    others.last.behind = this.first
    this.first = others.first
    this.last ??= others.last
    others.first = null
    others.last = null
  }

  some(holds: (item: Item) => boolean): boolean {
    for (let item = this.first; item !== null; item = item.behind) if (holds(item)) return true
    return false
  }

  clear(): void {
    while (this.take() !== null);
  }
}
