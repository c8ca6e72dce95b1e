/**
 * The difference between two documents of sessions, key by key.
 *
 * Pure. Values are payloads: large ones are compared by hash, and nothing is loaded.
 */
import { canonical, type Json } from '#model/kernel/json.ts'
import type { Payload } from '#model/kernel/payload.ts'
import type { SessionDocument } from './session.ts'

export interface KeyDifference {
  readonly key: string
  /** Null: the key was absent. */
  readonly before: Payload | null
  readonly after: Payload | null
}

const isSame = (one: Payload | null, other: Payload | null): boolean =>
  one === other || (one !== null && other !== null && canonical(one as Json) === canonical(other as Json))

const at = (document: SessionDocument, key: string): Payload | null =>
  Object.hasOwn(document, key) ? (document[key] ?? null) : null

/** Sorted by key; keys with the same value on both sides are left out. */
export const differenceOf = (before: SessionDocument, after: SessionDocument): readonly KeyDifference[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .sort()
    .map((key) => ({ key, before: at(before, key), after: at(after, key) }))
    .filter((one) => !isSame(one.before, one.after))
