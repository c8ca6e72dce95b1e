import { expect, test } from 'vitest'
import { between } from './use-selection.ts'

const SHOWN = ['a', 'b', 'c', 'd']

test('the rows between two are those shown, whichever comes first', () => {
  expect(between(SHOWN, 'b', 'd')).toEqual(['b', 'c', 'd'])
  expect(between(SHOWN, 'c', 'a')).toEqual(['a', 'b', 'c'])
  expect(between(SHOWN, 'b', 'b')).toEqual(['b'])
})

test('from a row that is shown no more only the other is meant', () => {
  expect(between(SHOWN, 'gone', 'c')).toEqual(['c'])
})
