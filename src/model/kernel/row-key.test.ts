/** Which texts every store accepts as keys. */
import { expect, test } from 'vitest'
import { DOCUMENT_KEY, keyProblem, PERSON_NAME } from './row-key.ts'

test.each(['a', 'line\nbreak', '日本語', '😀', 'x'.repeat(700)])('row-key-1: %j is a key', (text) => {
  expect(keyProblem(DOCUMENT_KEY, text)).toBeNull()
})

test.each([
  ['', 'is empty'],
  ['x'.repeat(701), '701 characters; at most 700'],
  ['a\u0000b', 'NUL'],
  ['\ud83d', 'surrogate'],
  ['\ude00\ud83d', 'surrogate'],
])('row-key-1: %j is refused, with the reason (14.7)', (text, reason) => {
  expect(keyProblem(DOCUMENT_KEY, text)).toContain(reason)
})

test('names of people may have fewer characters than document keys', () => {
  expect(keyProblem(PERSON_NAME, 'x'.repeat(256))).toContain('the name of a user or group')
})
