/**
 * Finds the differences between two documents, path by path.
 *
 * Owns how paths are named: lists whose items have names are compared by name, so that a moved item has not changed. Knows no manifest.
 */
import { isRecord } from '#manifest/yaml/record.ts'
import type { Json } from '#model/kernel/json.ts'

export interface Difference {
  readonly path: string
  readonly kind: 'added' | 'removed' | 'changed'
  /** Absent if it was added. */
  readonly before?: Json
  /** Absent if it was removed. */
  readonly after?: Json
}

type Parts = ReadonlyMap<string, Json>

const nameOf = (item: Json): string | null => (isRecord(item) && typeof item['name'] === 'string' ? item['name'] : null)

/** By name, if every item has a unique one. */
const byName = (items: readonly Json[]): Parts | null => {
  const names = items.map(nameOf)
  const isNamed = names.every((name) => name !== null) && new Set(names).size === items.length
  return isNamed ? new Map(items.map((item, at) => [`[${names[at] ?? ''}]`, item])) : null
}

const partsOf = (value: Json | undefined): Parts | null => {
  if (Array.isArray(value)) return byName(value) ?? new Map(value.map((item, at) => [`[${at}]`, item]))
  if (isRecord(value)) return new Map(Object.entries(value).map(([key, part]) => [`.${key}`, part]))
  return null
}

const isList = (value: Json | undefined): boolean => Array.isArray(value)

export const differencesOf = (before: Json | undefined, after: Json | undefined, path = ''): readonly Difference[] => {
  const place = path.replace(/^\./, '')
  if (before === undefined) return after === undefined ? [] : [{ path: place, kind: 'added', after }]
  if (after === undefined) return [{ path: place, kind: 'removed', before }]
  const [old, fresh] = [partsOf(before), partsOf(after)]
  if (old === null || fresh === null || isList(before) !== isList(after))
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path: place, kind: 'changed', before, after }]
  const keys = new Set([...old.keys(), ...fresh.keys()])
  return [...keys].flatMap((key) => differencesOf(old.get(key), fresh.get(key), path + key))
}
