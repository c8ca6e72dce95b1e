/** Which error code a refusal gets, and the retry delay it requests. */
import { describe, expect, test } from 'vitest'
import { refused } from './provider-failure.ts'

const NOW = Date.parse('2026-03-01T09:00:00Z')
const refusal = (over: Partial<Parameters<typeof refused>[0]>) =>
  refused({ status: 429, headers: {}, body: '', message: 'no', ...over }, NOW, null)

describe('retry delay', () => {
  test.each([
    [{ 'retry-after': '2' }, 2_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after': '0' }, 0],
    [{ 'retry-after': 'Sun, 01 Mar 2026 09:01:00 GMT' }, 60_000],
    [{ 'retry-after': 'Sun, 01 Mar 2026 08:00:00 GMT' }, 0],
    [{ 'retry-after-ms': '120', 'retry-after': '9' }, 120],
    [{ 'retry-after': 'soon' }, null],
    [{ 'retry-after': '-1' }, null],
    [{ 'retry-after': ' ' }, null],
    [{}, null],
  ])('%o means %s ms', (headers: Record<string, string>, expected) => {
    expect(refusal({ headers }).retryAfterMs).toBe(expected)
  })
})

describe('a request that is too long', () => {
  test.each([
    ['{"error":{"code":"context_length_exceeded"}}', 'bad request'],
    ['', 'prompt is too long: 210000 tokens > 200000 maximum'],
    ['', "This model's maximum context length is 8192 tokens"],
    ['', 'input exceeds the context window'],
  ])('%s %s', (body, message) => {
    expect(refusal({ status: 400, body, message }).code).toBe('MODEL_CONTEXT_FULL')
  })

  test('another bad request is MODEL_REJECTED', () => {
    expect(refusal({ status: 400, message: 'max_tokens: must be positive' }).code).toBe('MODEL_REJECTED')
  })
})

test('a detail has a maximum length', () => {
  expect(refusal({ message: 'x'.repeat(10_000) }).detail).toHaveLength(500)
})
