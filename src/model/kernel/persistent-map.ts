/**
 * A map whose old versions stay readable, and whose newest version costs what a plain Map costs.
 *
 * Shares data between versions (Baker's trick: the newest version holds the real Map, each older one a difference).
 * Without it, evolve would copy every step of a run for each new step, and a run of n steps would cost n squared.
 */

/** Values are never undefined: in a difference, undefined means that the key was absent. */
type Value = NonNullable<unknown>

/** The difference from the next version: the value that this version has at one key. */
interface Difference<K, V extends Value> {
  readonly key: K
  readonly value: V | undefined
  readonly next: PersistentMap<K, V>
}

export class PersistentMap<K, V extends Value> {
  private static readonly EMPTY = new PersistentMap<never, never>(new Map<never, never>())
  /** The newest version holds the map itself, every older one a difference. */
  private store: Map<K, V> | Difference<K, V>

  private constructor(map: Map<K, V>) {
    this.store = map
  }

  /** One shared empty map, which never changes: most runs never have an open step. */
  static empty<K, V extends Value>(): PersistentMap<K, V> {
    return PersistentMap.EMPTY as unknown as PersistentMap<K, V>
  }

  get(key: K): V | undefined {
    const map = this.reroot()
    // A run looks up its open steps again and again, and most have none: an empty map is answered without hashing the key.
    return map.size === 0 ? undefined : map.get(key)
  }

  has(key: K): boolean {
    const map = this.reroot()
    return map.size > 0 && map.has(key)
  }

  get size(): number {
    return this.reroot().size
  }

  /** A snapshot: later versions do not change it. */
  entries(): readonly (readonly [K, V])[] {
    return [...this.reroot()]
  }

  /** True if `holds` is true for any entry. Reads in place; the callback must not touch this map. */
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

  /** Moves the real Map to this version; the versions on the way become differences to this one. */
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
