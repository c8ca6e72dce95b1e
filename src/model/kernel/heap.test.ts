/** The heap, compared with a sorted list over any mixture of additions and removals. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Heap } from './heap.ts'

interface Item {
  readonly rank: number
  readonly order: number
}

type Move = { readonly kind: 'add'; readonly rank: number } | { readonly kind: 'remove'; readonly place: number }

const isBefore = (a: Item, b: Item): boolean => (a.rank === b.rank ? a.order < b.order : a.rank < b.rank)

const move: fc.Arbitrary<Move> = fc.oneof(
  fc.record({ kind: fc.constant('add' as const), rank: fc.nat(20) }),
  fc.record({ kind: fc.constant('remove' as const), place: fc.constantFrom(0, 0, 1, 2, 7) }),
)

const followsSortedList = (moves: readonly Move[]): void => {
  const heap = new Heap<Item>(isBefore)
  const sorted: Item[] = []
  for (const [order, one] of moves.entries()) {
    if (one.kind === 'add') {
      const item = { rank: one.rank, order }
      heap.add(item)
      sorted.push(item)
      sorted.sort((a, b) => (isBefore(a, b) ? -1 : 1))
    } else {
      for (const item of sorted.splice(one.place, 1)) heap.remove(item)
    }
    expect(heap.first()).toBe(sorted[0])
    expect(heap.size).toBe(sorted.length)
  }
}

test('the first item of a heap is always the first of the sorted list', () =>
  fc.assert(fc.property(fc.array(move, { maxLength: 200, size: 'max' }), followsSortedList)))

test('an item added twice is in the heap once, and removing an item that is not in it does nothing', () => {
  const heap = new Heap<Item>(isBefore)
  const item = { rank: 1, order: 1 }
  heap.add(item)
  heap.add(item)
  heap.remove({ rank: 1, order: 1 })
  expect(heap.size).toBe(1)
  heap.remove(item)
  heap.remove(item)
  expect(heap.first()).toBeUndefined()
})
