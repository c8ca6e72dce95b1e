/** Differences between two documents: none if they are equal, each reported at its path, lists compared by the names of their items. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json } from '#model/kernel/json.ts'
import { differencesOf } from './difference.ts'

test('additions, removals and changes are reported at their path', () => {
  const before = { product: { name: 'shop' }, limits: { chain: 5 } }
  const after = { product: { name: 'store', team: 'sales' } }
  expect(differencesOf(before, after)).toEqual([
    { path: 'product.name', kind: 'changed', before: 'shop', after: 'store' },
    { path: 'product.team', kind: 'added', after: 'sales' },
    { path: 'limits', kind: 'removed', before: { chain: 5 } },
  ])
})

test('items with names are compared by name: a moved item has not changed', () => {
  const [a, b] = [
    { name: 'a', effect: 'once' },
    { name: 'b', effect: 'once' },
  ]
  expect(differencesOf({ functions: [a, b] }, { functions: [b, a] })).toEqual([])
  expect(differencesOf({ functions: [a, b] }, { functions: [{ ...b, effect: 'idempotent' }] })).toEqual([
    { path: 'functions[a]', kind: 'removed', before: a },
    { path: 'functions[b].effect', kind: 'changed', before: 'once', after: 'idempotent' },
  ])
})

test('items without names are compared by index, and a list is never taken for a record', () => {
  expect(differencesOf({ tags: ['a', 'b'] }, { tags: ['a', 'c', 'd'] })).toEqual([
    { path: 'tags[1]', kind: 'changed', before: 'b', after: 'c' },
    { path: 'tags[2]', kind: 'added', after: 'd' },
  ])
  expect(differencesOf({ to: [] }, { to: {} })).toEqual([{ path: 'to', kind: 'changed', before: [], after: {} }])
})

test('a document does not differ from itself, and both directions give the same number of differences', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const [left, right] = [JSON.parse(JSON.stringify(one)) as Json, JSON.parse(JSON.stringify(other)) as Json]
      expect(differencesOf(left, left)).toEqual([])
      expect(differencesOf(left, right).length).toBe(differencesOf(right, left).length)
    }),
  )
})
