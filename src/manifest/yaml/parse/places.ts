/**
 * Finds the place of a path in the text of a manifest: line and column.
 *
 * Owns the mapping from a path of the normal form back to what was written: names find members of lists, short forms are tried for long ones,
 * and a path that was not written has the place of its nearest ancestor.
 */
import { isAlias, isMap, isScalar, isSeq, type LineCounter, type Node, type Pair, type Document as Tree } from 'yaml'
import type { Path } from '#manifest/yaml/finding.ts'

export interface Position {
  readonly line: number
  readonly column: number
}

/** How a key of the normal form may have been written. */
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  triggers: ['trigger'],
  emits: ['emit'],
  definitions: [],
  state_machines: ['state_machine'],
  schedules: ['crons'],
  retry: ['retries', 'max_retries', 'config', 'limits'],
  max_attempts: ['retries', 'max_retries'],
  timeout: ['config'],
  fan_in: ['trigger'],
  routing: ['trigger'],
}
const writtenAs = (key: string): readonly string[] => (Object.hasOwn(WRITTEN, key) ? (WRITTEN[key] ?? []) : [])
const NAMES = ['name', 'event', 'id', 'emits_event']

export const snakeCase = (text: string): string => text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

interface Found {
  readonly key: Node | null
  readonly value: Node | null
}

const scalarValue = (node: unknown): unknown => (isScalar(node) ? node.value : undefined)

type Children = ReadonlyMap<string, Found>

/** The first of a name counts. A key as it was written takes precedence over its other spelling. */
const membersOf = (pairs: readonly Pair[]): Children => {
  const members = new Map<string, Found>()
  const found = pairs.map(({ key, value }) => ({
    name: String(scalarValue(key)),
    key: key as Node,
    value: value as Node,
  }))
  for (const { name, key, value } of found) if (!members.has(name)) members.set(name, { key, value })
  for (const { name, key, value } of found)
    if (!members.has(snakeCase(name))) members.set(snakeCase(name), { key, value })
  return members
}

/** By index, by the text of a scalar, and by name. */
const itemsOf = (items: readonly (Node | null)[]): Children => {
  const children = new Map<string, Found>()
  for (const [i, item] of items.entries()) {
    const found = { key: item, value: item }
    const names = isMap(item)
      ? item.items.flatMap(({ key, value }) => (NAMES.includes(String(scalarValue(key))) ? scalarValue(value) : []))
      : [scalarValue(item)]
    for (const name of names) if (typeof name === 'string' && !children.has(name)) children.set(name, found)
    children.set(String(i), found)
  }
  return children
}

export class Places {
  readonly #tree: Tree.Parsed
  readonly #lines: LineCounter
  readonly #moves: (readonly [from: Path, to: Path])[] = []
  readonly #children = new WeakMap<Node, Children>()

  constructor(tree: Tree.Parsed, lines: LineCounter) {
    this.#tree = tree
    this.#lines = lines
  }

  /** The normal form has this at `from`; it was written at `to`. */
  moved(from: Path, to: Path): void {
    this.#moves.push([from, to])
  }

  at(path: Path, on: 'key' | 'value' = 'value', offset = 0): Position {
    const { key, value } = this.#find(this.#written(path))
    const node = on === 'key' ? (key ?? value) : (value ?? key)
    const start = node?.range?.[0] ?? 0
    const { line, col } = this.#lines.linePos(start + this.#inside(node, offset))
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }

  /** A scalar as it was written: `2.0` and not 2. */
  sourceOf(path: Path): string | null {
    const { value } = this.#find(path)
    return isScalar(value) ? (value.source ?? null) : null
  }

  /** An offset is a column only in a scalar of one line. */
  #inside(node: Node | null, offset: number): number {
    if (offset === 0 || !isScalar(node)) return 0
    const quote = node.type === 'QUOTE_DOUBLE' || node.type === 'QUOTE_SINGLE' ? 1 : 0
    return node.type === 'PLAIN' || quote === 1 ? offset + quote : 0
  }

  #written(path: Path): Path {
    for (const [from, to] of this.#moves)
      if (from.every((part, i) => path[i] === part)) return [...to, ...path.slice(from.length)]
    return path
  }

  #find(path: Path): Found {
    let found: Found = { key: null, value: this.#tree.contents }
    let rest = path
    while (rest.length > 0) {
      const next = this.#step(found, rest)
      if (next === null) return found
      found = { key: next.found.key ?? found.key, value: next.found.value }
      rest = rest.slice(next.taken)
    }
    return found
  }

  #step(from: Found, rest: Path): { readonly found: Found; readonly taken: number } | null {
    const node = isAlias(from.value) ? (from.value.resolve(this.#tree) ?? null) : from.value
    const [head = ''] = rest
    // Names may contain dots, so the longest existing name is meant.
    for (let taken = rest.length; taken > 0; taken--) {
      const found = this.#child(node, rest.slice(0, taken).join('.'))
      if (found !== null) return { found, taken }
    }
    for (const other of writtenAs(String(head))) {
      const found = this.#child(node, other)
      if (found !== null) return { found, taken: 1 }
    }
    const isImplied = head === 0 || head === '0' || head === 'definitions' || NAMES.includes(String(head))
    return isImplied ? { found: { key: from.key, value: node }, taken: 1 } : null
  }

  #child(node: Node | null, key: string): Found | null {
    if (node === null || !(isMap(node) || isSeq(node))) return null
    const known = this.#children.get(node)
    const children = known ?? (isSeq(node) ? itemsOf(node.items as readonly (Node | null)[]) : membersOf(node.items))
    if (known === undefined) this.#children.set(node, children)
    return children.get(key) ?? children.get(snakeCase(key)) ?? null
  }
}
