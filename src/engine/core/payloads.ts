/**
 * Prepares values for facts and reads them back: values are checked, cleaned of secrets, copied, and put into a blob when they are large.
 *
 * Owns the limit and the order: a blob is stored before the fact that names it.
 */
import { TrihandError } from '#model/kernel/errors.ts'
import { type Json, toJson } from '#model/kernel/json.ts'
import { MAX_INLINE_BYTES, MAX_RESULT_BYTES, type Payload } from '#model/kernel/payload.ts'
import type { Redaction } from '#model/kernel/redaction.ts'
import type { Blobs } from '#ports/blobs.ts'
import type { Ids } from '#ports/ids.ts'

/** A value and how a fact holds it. The value is what every later entry will read, not the object that was returned. */
export interface Stored {
  readonly payload: Payload
  readonly value: Json
}

type Deps = { readonly blobs: Blobs; readonly ids: Pick<Ids, 'digest'>; readonly redaction: Redaction }
type Fetching = Pick<Deps, 'blobs' | 'ids'>

/** Checked and copied; a large value must still be stored as a blob before a fact may name it. */
export type Prepared =
  | ({ readonly kind: 'inline' } & Stored)
  | { readonly kind: 'large'; readonly text: string; readonly value: Json }

const inline = (value: Json): Prepared => ({ kind: 'inline', payload: { value }, value })

/** Throws for a value that cannot be stored. Synchronous, so that the hot path waits for nothing. */
export const prepareValue = ({ redaction }: Pick<Deps, 'redaction'>, given: unknown): Prepared => {
  const value = toJson(given)
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return inline(value)
  const written = JSON.stringify(value)
  const text = redaction.json(written)
  if (text.length > MAX_RESULT_BYTES) {
    const size = `the value has ${text.length} characters; at most ${MAX_RESULT_BYTES} are allowed`
    throw new TrihandError('RESULT_TOO_LARGE', size)
  }
  const copy = typeof value === 'string' && text === written ? value : (JSON.parse(text) as Json)
  return text.length <= MAX_INLINE_BYTES ? inline(copy) : { kind: 'large', text, value: copy }
}

export const storePrepared = async (deps: Fetching, prepared: Prepared): Promise<Stored> => {
  if (prepared.kind === 'inline') return prepared
  const { text, value } = prepared
  const hash = deps.ids.digest(text)
  await deps.blobs.put(hash, text)
  return { payload: { blob: hash, bytes: text.length }, value }
}

export const storeValue = async (deps: Deps, given: unknown): Promise<Stored> =>
  storePrepared(deps, prepareValue(deps, given))

export const fetchValue = async (deps: Fetching, payload: Payload): Promise<Json> => {
  if ('value' in payload) return payload.value
  const text = await deps.blobs.get(payload.blob)
  if (text === null) throw new TrihandError('BLOB_MISSING', `blob ${payload.blob} is missing`)
  if (deps.ids.digest(text) !== payload.blob)
    throw new TrihandError('STATE_CORRUPT', `blob ${payload.blob} does not match its hash`)
  return JSON.parse(text) as Json
}
