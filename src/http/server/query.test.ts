/** Pages of lists: when there is more, and when there is not. */
import { expect, test } from 'vitest'
import { pageOf } from './query.ts'

const shape = { item: (row: number) => row * 10, cursor: (last: number) => `after-${last}` }

test.each([
  [[], { items: [], next_cursor: null }],
  [[1], { items: [10], next_cursor: null }],
  [[1, 2], { items: [10, 20], next_cursor: null }],
  [[1, 2, 3], { items: [10, 20], next_cursor: 'after-2' }],
])('%j, asked for two, is %j', (rows, page) => {
  expect(pageOf(rows, 2, shape)).toEqual(page)
})
