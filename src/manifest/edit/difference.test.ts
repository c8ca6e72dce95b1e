/** Differences between two documents: none between equals, each at its place, lists by the names of their items. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json } from '#model/kernel/json.ts'
import { differencesOf } from './difference.ts'

test('what was added, removed and changed is told at its place', () => {
  const before = { product: { name: 'shop' }, limits: { chain: 5 } }
  const after = { product: { name: 'store', team: 'sales' } }
  expect(differencesOf(before, after)).toEqual([
    { path: 'product.name', kind: 'changed', before: 'shop', after: 'store' },
    { path: 'product.team', kind: 'added', after: 'sales' },
    { path: 'limits', kind: 'removed', before: { chain: 5 } },
  ])
})

test('items with names are compared by name: one that moved has not changed', () => {
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

test('items without names are compared by place, and a list is never taken for a record', () => {
  expect(differencesOf({ tags: ['a', 'b'] }, { tags: ['a', 'c', 'd'] })).toEqual([
    { path: 'tags[1]', kind: 'changed', before: 'b', after: 'c' },
    { path: 'tags[2]', kind: 'added', after: 'd' },
  ])
  expect(differencesOf({ to: [] }, { to: {} })).toEqual([{ path: 'to', kind: 'changed', before: [], after: {} }])
})

test('a document differs in nothing from itself, and from another as the other does from it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      const [left, right] = [JSON.parse(JSON.stringify(one)) as Json, JSON.parse(JSON.stringify(other)) as Json]
      expect(differencesOf(left, left)).toEqual([])
      expect(differencesOf(left, right).length).toBe(differencesOf(right, left).length)
    }),
  )
})
