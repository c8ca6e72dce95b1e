/**
 * Where in the text of a manifest something stands: line and column of a path.
 *
 * Owns the way from a path of the normal form back to what was written: names find members of lists, short forms stand for long ones,
 * and a path that was not written has the place of the nearest thing around it.
 */
import { isAlias, isMap, isScalar, isSeq, type LineCounter, type Node, type Pair, type Document as Tree } from 'yaml'
import type { Path } from './finding.ts'

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
const NAMES = ['name', 'event', 'id']

export const snakeCase = (text: string): string => text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

interface Found {
  readonly key: Node | null
  readonly value: Node | null
}

const scalarValue = (node: unknown): unknown => (isScalar(node) ? node.value : undefined)

const pairsOf = (node: Node | null): readonly Pair[] => (isMap(node) ? node.items : [])

const member = (node: Node | null, key: string): Found | null => {
  const pairs = pairsOf(node)
  const pair =
    pairs.find((each) => scalarValue(each.key) === key) ??
    pairs.find((each) => snakeCase(String(scalarValue(each.key))) === snakeCase(key))
  return pair === undefined ? null : { key: pair.key as Node, value: pair.value as Node | null }
}

const isNamed = (item: Node | null, name: string): boolean =>
  scalarValue(item) === name || NAMES.some((key) => scalarValue(member(item, key)?.value) === name)

export class Places {
  readonly #tree: Tree.Parsed
  readonly #lines: LineCounter
  readonly #moves: (readonly [from: Path, to: Path])[] = []

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

  /** Only in a scalar of one line does an offset mean a column. */
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
    // Names have dots in them: the longest that is there is meant.
    for (let taken = rest.length; taken > 0; taken--) {
      const found = this.#child(node, rest.slice(0, taken).join('.'))
      if (found !== null) return { found, taken }
    }
    for (const other of WRITTEN[String(head)] ?? []) {
      const found = member(node, other)
      if (found !== null) return { found, taken: 1 }
    }
    const isImplied = head === 0 || head === '0' || head === 'definitions' || NAMES.includes(String(head))
    return isImplied ? { found: { key: from.key, value: node }, taken: 1 } : null
  }

  #child(node: Node | null, key: string): Found | null {
    if (!isSeq(node)) return member(node, key)
    const items = node.items as readonly (Node | null)[]
    const item = /^\d+$/.test(key) ? items[Number(key)] : items.find((each) => isNamed(each, key))
    return item === undefined ? null : { key: item, value: item }
  }
}
