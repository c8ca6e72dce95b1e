/**
 * Those who wait, in the order in which they came: each holds whoever stands behind it.
 *
 * Owns the links. A list that is emptied and filled again with every batch would be made anew each time.
 */
export interface QueueItem<Self> {
  /** The line's own mark; null at first, and while it stands in no line. */
  behind: Self | null
}

export class IntrusiveQueue<Item extends QueueItem<Item>> {
  private first: Item | null = null
  private last: Item | null = null

  get isEmpty(): boolean {
    return this.first === null
  }

  /** Of one that stands in no line. */
  add(item: Item): void {
    if (this.last === null) this.first = item
    else this.last.behind = item
    this.last = item
  }

  /** Whoever has waited longest; null if nobody waits. */
  take(): Item | null {
    const { first } = this
    if (first === null) return null
    this.first = first.behind
    if (this.first === null) this.last = null
    first.behind = null
    return first
  }

  /** Before all who wait here, in their order; the other line is empty afterwards. */
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
