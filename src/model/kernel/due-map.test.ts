/** DueMap, compared with a plain Map. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  countOf,
  type DueMap,
  dropDue,
  dueAtOf,
  dueEntries,
  entriesOf,
  nextDueAt,
  put,
  remove,
  valueAt,
} from './due-map.ts'

const OPTIONS = { numRuns: 2_000, seed: 41 }
/** Few enough keys to collide, enough of them to split a leaf; some are names that would break a plain object. */
const key = fc.oneof(
  { arbitrary: fc.integer({ min: 0, max: 40 }).map((number) => `k${number}`), weight: 9 },
  { arbitrary: fc.constantFrom('__proto__', 'constructor', '', '7'), weight: 1 },
)
const dueAt = fc.option(fc.integer({ min: 0, max: 20 }), { freq: 4 })
const change = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant('put' as const), key, dueAt }), weight: 12 },
  { arbitrary: fc.record({ kind: fc.constant('remove' as const), key }), weight: 4 },
  { arbitrary: fc.record({ kind: fc.constant('drop' as const), now: fc.integer({ min: 0, max: 8 }) }), weight: 1 },
)
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never

const apply = (map: DueMap<number>, change: Change, value: number): DueMap<number> => {
  if (change.kind === 'put') return put(map, change.key, value, change.dueAt)
  return change.kind === 'remove' ? remove(map, change.key) : dropDue(map, change.now)
}

const applyPlain = (map: Map<string, number | null>, change: Change): void => {
  if (change.kind === 'put') map.set(change.key, change.dueAt)
  else if (change.kind === 'remove') map.delete(change.key)
  else for (const [key, dueAt] of map) if (dueAt !== null && dueAt <= change.now) map.delete(key)
}

test('a due map holds what a Map would hold, knows what is due next, and survives a round trip through JSON', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60, size: 'max' }), (changes) => {
      const plain = new Map<string, number | null>()
      let map: DueMap<number> = []
      for (const [i, change] of changes.entries()) {
        map = apply(map, change, i)
        applyPlain(plain, change)
      }
      const dues = [...plain.values()].filter((due) => due !== null)
      expect(new Map(entriesOf(map).map(([key, , due]) => [key, due]))).toEqual(plain)
      expect([countOf(map), nextDueAt(map)]).toEqual([plain.size, dues.length === 0 ? null : Math.min(...dues)])
      expect(dueEntries(map, 10).map(([, , due]) => due)).toEqual(
        dues.filter((due) => due <= 10).toSorted((a, b) => a - b),
      )
      expect(JSON.parse(JSON.stringify(map))).toEqual(map)
    }),
    OPTIONS,
  )
})

test('changing a due map leaves older versions unchanged', () => {
  let map: DueMap<number> = []
  for (let i = 0; i < 100; i++) map = put(map, `k${i}`, i, i)
  const text = JSON.stringify(map)
  remove(put(dropDue(map, 50), 'k70', 0, null), 'k80')
  expect(JSON.stringify(map)).toBe(text)
  expect([valueAt(map, 'k70'), dueAtOf(map, 'k70'), valueAt(map, 'k100'), dueAtOf(map, 'k100')]).toEqual([
    70,
    70,
    undefined,
    null,
  ])
})

test('a map that has grown and shrunk is as small as one that never grew', () => {
  let map: DueMap<number> = []
  for (let i = 0; i < 5_000; i++) map = put(map, `k${i}`, i, i)
  map = dropDue(map, 4_997)
  expect(map).toEqual(entriesOf(map))
  expect(countOf(map)).toBe(2)
})

test('keys with the same hash are kept apart', () => {
  // The FNV-1a hashes of these two are the same 32 bits.
  const [one, other] = ['costarring', 'liquid']
  let map: DueMap<number> = put(put([], one, 1, null), other, 2, null)
  for (let i = 0; i < 200; i++) map = put(map, `k${i}`, i, null)
  expect([valueAt(map, one), valueAt(map, other)]).toEqual([1, 2])
})
