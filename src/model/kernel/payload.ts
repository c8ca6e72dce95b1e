/**
 * A value inside a fact: inline, or the address of a blob that holds it.
 *
 * Owns the two shapes and the size limit between them. Never stores or fetches a blob.
 */
import type { Json } from './json.ts'

export type Payload =
  | { readonly value: Json }
  /** `bill`: what a model call was billed for (bill.ts). */
  | { readonly blob: string; readonly bytes: number; readonly bill?: Json }

export const MAX_INLINE_BYTES = 64 * 1024
export const MAX_RESULT_BYTES = 16 * 1024 * 1024

export const inline = (value: Json): Payload => ({ value })
export const NOTHING: Payload = { value: null }
