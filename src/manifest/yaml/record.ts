/** Plain data with names: a parsed map of the manifest. */
import type { Json } from '#model/kernel/json.ts'

export type JsonRecord = { readonly [key: string]: Json }

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A value or a list of them, as a list; an absent value is an empty list. */
export const listed = (value: Json | undefined): readonly Json[] => {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

export const recordsIn = (value: Json | undefined): readonly JsonRecord[] => listed(value).filter(isRecord)

/** Without undefined members. */
export const defined = (record: { readonly [key: string]: Json | undefined }): JsonRecord =>
  Object.fromEntries(Object.entries(record).filter((entry): entry is [string, Json] => entry[1] !== undefined))
