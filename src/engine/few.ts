/**
 * Values by name where there are few, nearly always one: a list that is searched, and a map once there are many.
 *
 * Owns the choice. A map of one that comes and goes with every step makes a new table every few steps.
 */
const MANY = 16

/** Of a list without an order. Not spliced: that would give the list's room away, and the next step would need it again. */
export const takeOut = <Value>(list: Value[], value: Value): void => {
  const place = list.indexOf(value)
  if (place < 0) return
  const last = list.pop() as Value
  if (last !== value) list[place] = last
}

interface Named {
  readonly name: string
}

export class Few<Value extends Named> {
  private list: Value[] = []
  /** Null while the list is short. */
  private byName: Map<string, Value> | null = null

  get isEmpty(): boolean {
    return this.byName === null ? this.list.length === 0 : this.byName.size === 0
  }

  get(name: string): Value | undefined {
    if (this.byName !== null) return this.byName.get(name)
    for (const value of this.list) if (value.name === name) return value
    return undefined
  }

  /** Of a name that is not among them. */
  add(value: Value): void {
    if (this.byName === null && this.list.length === MANY)
      this.byName = new Map(this.list.map((one) => [one.name, one]))
    if (this.byName === null) this.list.push(value)
    else this.byName.set(value.name, value)
  }

  delete(value: Value): void {
    if (this.byName !== null) return void this.byName.delete(value.name)
    takeOut(this.list, value)
  }

  some(holds: (value: Value) => boolean): boolean {
    if (this.byName === null) return this.list.some(holds)
    for (const value of this.byName.values()) if (holds(value)) return true
    return false
  }

  clear(): void {
    this.list = []
    this.byName = null
  }
}
