/**
 * A map in plain JSON whose entries may fall due: cheap to change, cheap to ask what is due next, safe to store.
 *
 * Owns its own shape: a short list, or sixteen branches by the hash of the key, each with its count and its earliest instant.
 * With a plain object every change would copy the whole, and finding the due entry would look at every entry.
 */
import type { Instant } from './ids.ts'

export type DueEntry<Value> = readonly [key: string, value: Value, dueAt: Instant | null]

interface Branch<Value> {
  readonly count: number
  readonly dueAt: Instant | null
  readonly branches: readonly DueMap<Value>[]
}

export type DueMap<Value> = readonly DueEntry<Value>[] | Branch<Value>

const LEAF_SIZE = 16
/** Below half of a leaf, so that an entry that comes and goes does not split and join the same branch again and again. */
const JOIN_SIZE = 6
const WIDTH_BITS = 4
const WIDTH = 2 ** WIDTH_BITS
/** When the bits of the hash are used up, a leaf grows without limit. */
const MAX_DEPTH = 8

const isBranch = <Value>(map: DueMap<Value>): map is Branch<Value> => 'branches' in map

const hashOf = (key: string): number => {
  let hash = 0x811c9dc5
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

const branchAt = (hash: number, depth: number): number => (hash >>> (depth * WIDTH_BITS)) % WIDTH

const earlier = (a: Instant | null, b: Instant | null): Instant | null => {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}

export const countOf = <Value>(map: DueMap<Value>): number => (isBranch(map) ? map.count : map.length)

/** The earliest instant of any entry; null if none ever falls due. */
export const nextDueAt = <Value>(map: DueMap<Value>): Instant | null =>
  isBranch(map) ? map.dueAt : map.reduce<Instant | null>((first, [, , dueAt]) => earlier(first, dueAt), null)

export const entriesOf = <Value>(map: DueMap<Value>): readonly DueEntry<Value>[] =>
  isBranch(map) ? map.branches.flatMap(entriesOf) : map

const join = <Value>(branches: readonly DueMap<Value>[]): DueMap<Value> => {
  let count = 0
  let dueAt: Instant | null = null
  for (const branch of branches) {
    count += countOf(branch)
    dueAt = earlier(dueAt, nextDueAt(branch))
  }
  return count <= JOIN_SIZE ? branches.flatMap(entriesOf) : { count, dueAt, branches }
}

const split = <Value>(entries: readonly DueEntry<Value>[], depth: number): DueMap<Value> => {
  const branches = Array.from({ length: WIDTH }, (): DueEntry<Value>[] => [])
  for (const entry of entries) branches[branchAt(hashOf(entry[0]), depth)]?.push(entry)
  return join(branches)
}

const find = <Value>(map: DueMap<Value>, key: string): DueEntry<Value> | undefined => {
  const hash = hashOf(key)
  let node: DueMap<Value> = map
  for (let depth = 0; isBranch(node); depth++) node = node.branches[branchAt(hash, depth)] ?? []
  return node.find((entry) => entry[0] === key)
}

export const valueAt = <Value>(map: DueMap<Value>, key: string): Value | undefined => find(map, key)?.[1]

export const dueAtOf = <Value>(map: DueMap<Value>, key: string): Instant | null => find(map, key)?.[2] ?? null

const putAt = <Value>(map: DueMap<Value>, entry: DueEntry<Value>, hash: number, depth: number): DueMap<Value> => {
  if (isBranch(map)) {
    const place = branchAt(hash, depth)
    return join(map.branches.with(place, putAt(map.branches[place] ?? [], entry, hash, depth + 1)))
  }
  const place = map.findIndex(([key]) => key === entry[0])
  if (place !== -1) return map.with(place, entry)
  const longer = [...map, entry]
  return longer.length > LEAF_SIZE && depth < MAX_DEPTH ? split(longer, depth) : longer
}

export const put = <Value>(map: DueMap<Value>, key: string, value: Value, dueAt: Instant | null): DueMap<Value> =>
  putAt(map, [key, value, dueAt], hashOf(key), 0)

const removeAt = <Value>(map: DueMap<Value>, key: string, hash: number, depth: number): DueMap<Value> => {
  if (!isBranch(map)) return map.filter((entry) => entry[0] !== key)
  const place = branchAt(hash, depth)
  return join(map.branches.with(place, removeAt(map.branches[place] ?? [], key, hash, depth + 1)))
}

export const remove = <Value>(map: DueMap<Value>, key: string): DueMap<Value> =>
  find(map, key) === undefined ? map : removeAt(map, key, hashOf(key), 0)

const isDue = (dueAt: Instant | null, now: Instant): boolean => dueAt !== null && dueAt <= now

const collectDue = <Value>(map: DueMap<Value>, now: Instant): readonly DueEntry<Value>[] => {
  if (!isDue(nextDueAt(map), now)) return []
  return isBranch(map)
    ? map.branches.flatMap((branch) => collectDue(branch, now))
    : map.filter(([, , dueAt]) => isDue(dueAt, now))
}

const isBefore = ([aKey, , aDueAt]: DueEntry<unknown>, [bKey, , bDueAt]: DueEntry<unknown>): number =>
  (aDueAt ?? 0) - (bDueAt ?? 0) || (aKey < bKey ? -1 : 1)

/** Returns the entries that are due, earliest first; equal instants are ordered by key, so that every process sees the same order. */
export const dueEntries = <Value>(map: DueMap<Value>, now: Instant): readonly DueEntry<Value>[] =>
  collectDue(map, now).toSorted(isBefore)

/** Returns the map without its due entries; looks only into branches that have one. */
export const dropDue = <Value>(map: DueMap<Value>, now: Instant): DueMap<Value> => {
  if (!isDue(nextDueAt(map), now)) return map
  return isBranch(map)
    ? join(map.branches.map((branch) => dropDue(branch, now)))
    : map.filter(([, , dueAt]) => !isDue(dueAt, now))
}
