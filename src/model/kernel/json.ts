/**
 * JSON as the ledger stores it: exact text, nothing dropped, one canonical spelling for hashes.
 *
 * Owns which values may enter the ledger. Performs no IO.
 */
import { TrihandError } from './errors.ts'

/** Any value that JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** True for an object with members, not for a list. */
export const isJsonRecord = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const MAX_DEPTH = 64
const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype'])
export const isForbiddenKey = (key: string): boolean => FORBIDDEN_KEYS.has(key)

const badJson = (path: string, found: string): TrihandError =>
  new TrihandError('JSON_INVALID', `${path || 'the value'} is ${found}; expected plain JSON`)

/** Throws for values that JSON.stringify would silently drop or change. */
const check = (value: unknown, path: string, depth: number): void => {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return
    case 'number':
      if (!Number.isFinite(value)) throw badJson(path, String(value))
      return
    case 'object':
      break
    default:
      throw badJson(path, typeof value)
  }
  if (value === null) return
  // Checked before the recursion, because a stack overflow cannot be caught reliably.
  if (depth > MAX_DEPTH) throw badJson(path, `nested deeper than ${MAX_DEPTH} levels`)
  if (Array.isArray(value)) {
    if (Object.keys(value).length > value.length) throw badJson(path, 'a list with named members')
    for (let i = 0; i < value.length; i++) check(value[i], `${path}/${i}`, depth + 1)
    return
  }
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) {
    throw badJson(path, `a ${value.constructor?.name ?? 'special object'}`)
  }
  if (Object.getOwnPropertySymbols(value).length > 0) throw badJson(path, 'an object with symbol keys')
  for (const key of Object.keys(value)) {
    if (isForbiddenKey(key)) throw badJson(`${path}/${key}`, 'a forbidden key')
    check((value as Record<string, unknown>)[key], `${path}/${key}`, depth + 1)
  }
}

/**
 * Returns the value itself, once it is known to survive the ledger unchanged. The exception is -0, which comes back as its equal 0.
 * `undefined` becomes null only at the top: the result of a function that returns nothing.
 */
export const toJson = (value: unknown): Json => {
  if (value === undefined) return null
  check(value, '', 0)
  return value as Json
}

/** Each value has one spelling: keys sorted by UTF-16 code unit, no spaces, -0 written as 0. Equal values give equal text. */
export const canonical = (value: Json): string => {
  if (value === null || typeof value !== 'object') return JSON.stringify(Object.is(value, -0) ? 0 : value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const record = value as { readonly [key: string]: Json }
  const members = Object.keys(record)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(record[key] as Json)}`)
  return `{${members.join(',')}}`
}

const isMember = (value: object, key: string): boolean => Object.prototype.propertyIsEnumerable.call(value, key)

/** The value at a dotted path, or undefined if there is none. Finds members and items only, not the `length` of a list. */
export const at = (value: Json, path: string): Json | undefined => {
  let current: Json | undefined = value
  for (const key of path.split('.')) {
    if (current === null || typeof current !== 'object' || !isMember(current, key)) return undefined
    current = (current as { readonly [key: string]: Json })[key]
  }
  return current
}
