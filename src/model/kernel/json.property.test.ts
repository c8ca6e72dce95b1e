/** JSON against two oracles: which values survive JSON.stringify, and which values are equal. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { TrihandError } from './errors.ts'
import { at, canonical, type Json, toJson } from './json.ts'

const OPTIONS = { numRuns: 1_000, seed: 11 }
const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>

const FORBIDDEN = ['__proto__', 'constructor', 'prototype']
const anything = fc.anything({
  key: fc.oneof(fc.string(), fc.constantFrom(...FORBIDDEN, 'toJSON')),
  maxDepth: 3,
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
})

/** Compares every own key, enumerable or not, text or symbol. The two zeros are equal. */
const isSame = (a: unknown, b: unknown): boolean => {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const prototype = Object.getPrototypeOf(a)
  if (!Array.isArray(a) && prototype !== Object.prototype && prototype !== null) return false
  const keys = Reflect.ownKeys(a)
  const other = b as Record<string | symbol, unknown>
  return (
    keys.length === Reflect.ownKeys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isSame(Reflect.get(a, key), other[key]))
  )
}

const survives = (value: unknown): boolean => {
  try {
    return isSame(value, JSON.parse(JSON.stringify(value)))
  } catch {
    return false
  }
}

const hasForbiddenKey = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.keys(value).some((key) => FORBIDDEN.includes(key) || hasForbiddenKey(Reflect.get(value, key)))

const isTaken = (value: unknown): boolean => {
  try {
    toJson(value)
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(TrihandError)
    return false
  }
}

/** The same value with the keys of every object in reverse order. */
const turned = (value: Json): Json => {
  if (value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map(turned)
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, member]) => [key, turned(member)]),
  )
}

test('toJson refuses exactly what JSON.stringify would change, and the forbidden keys', () => {
  let taken = 0
  fc.assert(
    fc.property(fc.oneof(anything, json), (value) => {
      const expected = value === undefined || (survives(value) && !hasForbiddenKey(value))
      taken += expected ? 1 : 0
      expect(isTaken(value)).toBe(expected)
    }),
    OPTIONS,
  )
  // Both outcomes must have occurred, or the oracle proves nothing.
  expect(taken).toBeGreaterThan(OPTIONS.numRuns / 4)
  expect(taken).toBeLessThan((OPTIONS.numRuns * 3) / 4)
})

test('equal values have equal canonical text, in any order of their keys', () => {
  fc.assert(
    fc.property(json, (value) => canonical(turned(value)) === canonical(value)),
    OPTIONS,
  )
})

test('different values have different canonical text', () => {
  const small = fc.jsonValue({
    maxDepth: 2,
    stringUnit: fc.constantFrom('a', '"', ',', ':', '\\'),
  }) as fc.Arbitrary<Json>
  fc.assert(
    fc.property(small, small, (a, b) => (canonical(a) === canonical(b)) === isSame(a, b)),
    OPTIONS,
  )
})

test('canonical text reads back as the value, and is its own canonical text', () => {
  fc.assert(
    fc.property(json, (value) => {
      const readBack = JSON.parse(canonical(value)) as Json
      expect(isSame(readBack, value)).toBe(true)
      expect(canonical(readBack)).toBe(canonical(value))
    }),
    OPTIONS,
  )
})

test('a path finds the value that was put there', () => {
  const key = fc.string({ minLength: 1 }).filter((text) => !text.includes('.') && !FORBIDDEN.includes(text))
  fc.assert(
    fc.property(fc.array(key, { minLength: 1, maxLength: 5 }), json, (keys, value) => {
      const data = keys.reduceRight<Json>((inner, name) => ({ [name]: inner }), value)
      expect(at(data, keys.join('.'))).toBe(value)
    }),
    OPTIONS,
  )
})
