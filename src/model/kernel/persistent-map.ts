/**
 * A map whose old versions stay readable, and whose newest version costs what a plain Map costs.
 *
 * Owns sharing between versions (Baker's trick: the newest holds the real Map, older ones hold one difference each).
 * Without it, evolve would copy every step of a run for each new step, and a run of n steps would cost n squared.
 */

/** Values are never undefined: that is how a difference says that its key was not there. */
type Value = NonNullable<unknown>

/** A difference to the version after it: what this version has at one key. */
interface Difference<K, V extends Value> {
  readonly key: K
  readonly value: V | undefined
  readonly next: PersistentMap<K, V>
}

export class PersistentMap<K, V extends Value> {
  private static readonly EMPTY = new PersistentMap<never, never>(new Map<never, never>())
  /** The newest version has the map itself, every older one a difference. */
  private store: Map<K, V> | Difference<K, V>

  private constructor(map: Map<K, V>) {
    this.store = map
  }

  /** One for all, which no version grows out of: most runs never have an open step. */
  static empty<K, V extends Value>(): PersistentMap<K, V> {
    return PersistentMap.EMPTY as unknown as PersistentMap<K, V>
  }

  get(key: K): V | undefined {
    const map = this.reroot()
    // A run is asked for its open steps again and again, and most have none: no key is worked out for an empty map.
    return map.size === 0 ? undefined : map.get(key)
  }

  has(key: K): boolean {
    const map = this.reroot()
    return map.size > 0 && map.has(key)
  }

  get size(): number {
    return this.reroot().size
  }

  /** A snapshot: safe against later versions. */
  entries(): readonly (readonly [K, V])[] {
    return [...this.reroot()]
  }

  /** True if any entry holds. Reads in place; the callback must not touch this map. */
  some(holds: (value: V) => boolean): boolean {
    for (const value of this.reroot().values()) if (holds(value)) return true
    return false
  }

  with(key: K, value: V): PersistentMap<K, V> {
    if (this === PersistentMap.empty()) return new PersistentMap<K, V>(new Map([[key, value]]))
    const map = this.reroot()
    const next = new PersistentMap<K, V>(map)
    this.store = { key, value: map.get(key), next }
    map.set(key, value)
    return next
  }

  without(key: K): PersistentMap<K, V> {
    if (!this.has(key)) return this
    const map = this.reroot()
    const next = new PersistentMap<K, V>(map)
    this.store = { key, value: map.get(key), next }
    map.delete(key)
    return next
  }

  /** Makes this version the holder of the real Map, turning the versions on the way into differences to this one. */
  private reroot(): Map<K, V> {
    if (this.store instanceof Map) return this.store
    const path: PersistentMap<K, V>[] = []
    let holder: PersistentMap<K, V> = this
    while (!(holder.store instanceof Map)) {
      path.push(holder)
      holder = holder.store.next
    }
    const map = holder.store
    for (const version of path.reverse()) {
      const { key, value } = version.store as Difference<K, V>
      holder.store = { key, value: map.get(key), next: version }
      if (value === undefined) map.delete(key)
      else map.set(key, value)
      version.store = map
      holder = version
    }
    return map
  }
}
