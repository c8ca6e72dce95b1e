/**
 * Values on their way into and out of facts: checked, copied, and put into a blob when they are large.
 *
 * Owns the limit and the order: a blob is stored before the fact that names it.
 */
import { TrihandError } from '../model/errors.ts'
import { type Json, toJson } from '../model/json.ts'
import { MAX_INLINE_BYTES, MAX_RESULT_BYTES, type Payload } from '../model/payload.ts'
import type { Blobs } from '../ports/blobs.ts'
import type { Ids } from '../ports/ids.ts'

/** A value and how a fact holds it. The value is what every later entry will read, not the object that was returned. */
export interface Stored {
  readonly payload: Payload
  readonly value: Json
}

type Deps = { readonly blobs: Blobs; readonly ids: Pick<Ids, 'digest'> }

/** Answers at once for small values: the hot path waits for nothing. */
export const storeValue = (deps: Deps, given: unknown): Stored | Promise<Stored> => {
  const value = toJson(given)
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return { payload: { value }, value }
  const text = JSON.stringify(value)
  if (text.length > MAX_RESULT_BYTES) {
    throw new TrihandError(
      'RESULT_TOO_LARGE',
      `the value has ${text.length} characters, at most ${MAX_RESULT_BYTES} are kept`,
    )
  }
  const copy = typeof value === 'string' ? value : (JSON.parse(text) as Json)
  return text.length <= MAX_INLINE_BYTES ? { payload: { value: copy }, value: copy } : storeBlob(deps, text, copy)
}

const storeBlob = async (deps: Deps, text: string, value: Json): Promise<Stored> => {
  const hash = deps.ids.digest(text)
  await deps.blobs.put(hash, text)
  return { payload: { blob: hash, bytes: text.length }, value }
}

export const fetchValue = async (deps: Deps, payload: Payload): Promise<Json> => {
  if ('value' in payload) return payload.value
  const text = await deps.blobs.get(payload.blob)
  if (text === null) throw new TrihandError('BLOB_MISSING', `blob ${payload.blob} is gone`)
  if (deps.ids.digest(text) !== payload.blob)
    throw new TrihandError('STATE_CORRUPT', `blob ${payload.blob} does not match its hash`)
  return JSON.parse(text) as Json
}
