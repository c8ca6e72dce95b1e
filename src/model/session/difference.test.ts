/** Two session documents are compared. */
import { expect, test } from 'vitest'
import { differenceOf } from './difference.ts'

const blob = (hash: string) => ({ blob: hash, bytes: 70_000 })

test('added, removed and changed keys are listed in order, and the order of members within a value does not matter', () => {
  const before = { a: { value: 1 }, gone: { value: 'x' }, same: { value: { m: 1, n: [2] } }, big: blob('h1') }
  const after = { a: { value: 2 }, came: { value: null }, same: { value: { n: [2], m: 1 } }, big: blob('h1') }
  expect(differenceOf(before, after)).toEqual([
    { key: 'a', before: { value: 1 }, after: { value: 2 } },
    { key: 'came', before: null, after: { value: null } },
    { key: 'gone', before: { value: 'x' }, after: null },
  ])
})

test('a key named like the prototype is an ordinary key', () => {
  const odd = Object.fromEntries([['__proto__', { value: 1 }]])
  expect(differenceOf({}, odd)).toEqual([{ key: '__proto__', before: null, after: { value: 1 } }])
})
