/** Quoting for a shell: it never executes a part of an id or an address. */
import { expect, test } from 'vitest'
import { curlOf, shellWord } from './curl.ts'

test.each([
  ['nightly', 'nightly'],
  ['a b', "'a b'"],
  ['$(rm -rf /)', "'$(rm -rf /)'"],
  ["it's", "'it'\\''s'"],
])('%s is written as %s', (text, word) => expect(shellWord(text)).toBe(word))

test('a request names the token only where one logs in', () => {
  expect(curlOf('http://127.0.0.1:4400', '/api/runs/run_1', false)).toBe('curl -s http://127.0.0.1:4400/api/runs/run_1')
  expect(curlOf('https://th.example', '/api/events?a=b', true)).toBe(
    `curl -s -H "authorization: Bearer $TRIHAND_TOKEN" 'https://th.example/api/events?a=b'`,
  )
})
