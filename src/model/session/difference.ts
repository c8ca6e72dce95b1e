/**
 * What differs between two documents of sessions, key by key.
 *
 * Pure. Values are payloads: of large ones the hashes are compared, and nothing is loaded.
 */
import { canonical, type Json } from '#model/kernel/json.ts'
import type { Payload } from '#model/kernel/payload.ts'
import type { SessionDocument } from './session.ts'

export interface KeyDifference {
  readonly key: string
  /** Null: the key was not there. */
  readonly before: Payload | null
  readonly after: Payload | null
}

const isSame = (one: Payload | null, other: Payload | null): boolean =>
  one === other || (one !== null && other !== null && canonical(one as Json) === canonical(other as Json))

const at = (document: SessionDocument, key: string): Payload | null =>
  Object.hasOwn(document, key) ? (document[key] ?? null) : null

/** In the order of the keys; what is the same on both sides is left out. */
export const differenceOf = (before: SessionDocument, after: SessionDocument): readonly KeyDifference[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .sort()
    .map((key) => ({ key, before: at(before, key), after: at(after, key) }))
    .filter((one) => !isSame(one.before, one.after))
