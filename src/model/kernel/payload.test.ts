/** A value inside a fact: inline, or the address of a blob. */
import { expect, test } from 'vitest'
import { inline, MAX_INLINE_BYTES, MAX_RESULT_BYTES, NOTHING } from './payload.ts'

test('an inline value is wrapped, so that null is a value too', () => {
  expect(inline({ a: 1 })).toStrictEqual({ value: { a: 1 } })
  expect(NOTHING).toStrictEqual(inline(null))
})

test('the limits are those of the contract', () =>
  expect([MAX_INLINE_BYTES, MAX_RESULT_BYTES]).toEqual([65_536, 16_777_216]))
