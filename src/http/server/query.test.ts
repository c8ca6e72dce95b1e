/** Pages of lists, with and without more items to come. */
import { expect, test } from 'vitest'
import { pageOf } from './query.ts'

const shape = { item: (row: number) => row * 10, cursor: (last: number) => `after-${last}` }

test.each([
  [[], { items: [], next_cursor: null }],
  [[1], { items: [10], next_cursor: null }],
  [[1, 2], { items: [10, 20], next_cursor: null }],
  [[1, 2, 3], { items: [10, 20], next_cursor: 'after-2' }],
])('rows %j with a limit of two give %j', (rows, page) => {
  expect(pageOf(rows, 2, shape)).toEqual(page)
})
