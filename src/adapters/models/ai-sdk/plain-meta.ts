/**
 * Converts a provider's own data on a part into plain JSON that survives the ledger; the main case is the signature of reasoning.
 *
 * Owns how bytes are written (base64: JSON would make an object of numbers). Never reads what the data means.
 */
import { type Json, toJson } from '#model/kernel/json.ts'

const plain = (value: unknown): unknown => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.map(([key, member]) => [key, plain(member)]))
}

/** Empty if the provider sent no data. */
export const plainMeta = (metadata: unknown): { readonly meta?: Json } =>
  metadata === undefined || metadata === null ? {} : { meta: toJson(plain(metadata)) }
