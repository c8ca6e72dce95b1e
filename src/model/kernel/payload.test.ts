/** The two shapes of a value inside a fact. */
import { expect, test } from 'vitest'
import { inline, MAX_INLINE_BYTES, MAX_RESULT_BYTES, NOTHING } from './payload.ts'

test('a value in line is wrapped, so that null is a value too', () => {
  expect(inline({ a: 1 })).toStrictEqual({ value: { a: 1 } })
  expect(NOTHING).toStrictEqual(inline(null))
})

test('the limits are those of the contract', () =>
  expect([MAX_INLINE_BYTES, MAX_RESULT_BYTES]).toEqual([65_536, 16_777_216]))
