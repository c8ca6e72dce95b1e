/** After a failed model call: retry, the next model, or the end. */
import { expect, test } from 'vitest'
import { type ModelTrouble, moveAfter } from './fallback.ts'

const trouble = (change: Partial<ModelTrouble>): ModelTrouble => ({
  code: 'MODEL_UNAVAILABLE',
  retryable: true,
  tries: 1,
  maxAttempts: 3,
  hasNext: true,
  retryAfterMs: null,
  ...change,
})

test.each([
  [{}, 'again'],
  [{ tries: 3 }, 'next'],
  [{ tries: 3, hasNext: false }, 'fail'],
  [{ code: 'RATE_LIMITED', retryAfterMs: 60_000 }, 'again'],
  [{ code: 'RATE_LIMITED', retryAfterMs: 3_600_000 }, 'next'],
  [{ code: 'RATE_LIMITED', retryAfterMs: 3_600_000, hasNext: false }, 'again'],
  [{ code: 'MODEL_AUTH' }, 'next'],
  [{ code: 'MODEL_CONTEXT_FULL', hasNext: false }, 'fail'],
  [{ code: 'CIRCUIT_OPEN' }, 'next'],
  [{ code: 'MODEL_REJECTED', retryable: false }, 'fail'],
  [{ code: 'MODEL_NOT_ALLOWED', retryable: false }, 'fail'],
] as const)('[E7] %j: %s', (change, move) => {
  expect(moveAfter(trouble(change))).toBe(move)
})
