/**
 * Values by name for the case that there is nearly always one: a field for it, and a Map while there are several.
 *
 * Owns the choice. A Map whose only entry comes and goes with every step rebuilds its table every few steps.
 */

/** Removes a value from a list without an order. No splice, which would free the list's storage that the next step needs again. */
export const takeOut = <Value>(list: Value[], value: Value): void => {
  const place = list.indexOf(value)
  if (place < 0) return
  const last = list.pop() as Value
  if (last !== value) list[place] = last
}

interface Named {
  readonly name: string
}

export class SmallMap<Value extends Named> {
  /** The only value; null if there are none or several. */
  only: Value | null = null
  /** Null while there is one value or none. */
  private byName: Map<string, Value> | null = null

  get isEmpty(): boolean {
    return this.only === null && this.byName === null
  }

  get(name: string): Value | undefined {
    if (this.byName !== null) return this.byName.get(name)
    return this.only?.name === name ? this.only : undefined
  }

  /** The value's name must not be in the map yet. */
  add(value: Value): void {
    if (this.byName !== null) this.byName.set(value.name, value)
    else if (this.only === null) this.only = value
    else {
      this.byName = new Map([this.only, value].map((one) => [one.name, one]))
      this.only = null
    }
  }

  delete(value: Value): void {
    if (this.only === value) this.only = null
    if (this.byName?.delete(value.name) === true && this.byName.size === 0) this.byName = null
  }

  some(holds: (value: Value) => boolean): boolean {
    if (this.only !== null) return holds(this.only)
    for (const value of this.byName?.values() ?? []) if (holds(value)) return true
    return false
  }

  clear(): void {
    this.only = null
    this.byName = null
  }
}
