/**
 * A map whose old versions stay readable, and whose newest version costs what a plain Map costs.
 *
 * Owns sharing between versions (Baker's trick: the newest holds the real Map, older ones hold one difference each).
 * Without it, evolve would copy every step of a run for each new step, and a run of n steps would cost n squared.
 */
/** Values are never undefined: that is how a difference says that its key was not there. */
type Value = NonNullable<unknown>

type Store<K, V extends Value> =
  | { readonly kind: 'map'; readonly map: Map<K, V> }
  | { readonly kind: 'diff'; readonly key: K; readonly value: V | undefined; readonly next: PersistentMap<K, V> }

export class PersistentMap<K, V extends Value> {
  private store: Store<K, V>

  private constructor(store: Store<K, V>) {
    this.store = store
  }

  static empty<K, V extends Value>(): PersistentMap<K, V> {
    return new PersistentMap<K, V>({ kind: 'map', map: new Map() })
  }

  get(key: K): V | undefined {
    return this.reroot().get(key)
  }

  has(key: K): boolean {
    return this.reroot().has(key)
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
    const map = this.reroot()
    const next = new PersistentMap<K, V>({ kind: 'map', map })
    this.store = { kind: 'diff', key, value: map.get(key), next }
    map.set(key, value)
    return next
  }

  without(key: K): PersistentMap<K, V> {
    const map = this.reroot()
    if (!map.has(key)) return this
    const next = new PersistentMap<K, V>({ kind: 'map', map })
    this.store = { kind: 'diff', key, value: map.get(key), next }
    map.delete(key)
    return next
  }

  /** Makes this version the holder of the real Map, turning the versions on the way into differences to this one. */
  private reroot(): Map<K, V> {
    if (this.store.kind === 'map') return this.store.map
    const path: PersistentMap<K, V>[] = []
    let holder: PersistentMap<K, V> = this
    while (holder.store.kind === 'diff') {
      path.push(holder)
      holder = holder.store.next
    }
    const map = holder.store.map
    for (const version of path.reverse()) {
      const { key, value } = version.store as { key: K; value: V | undefined }
      holder.store = { kind: 'diff', key, value: map.get(key), next: version }
      if (value === undefined) map.delete(key)
      else map.set(key, value)
      version.store = { kind: 'map', map }
      holder = version
    }
    return map
  }
}
