/**
 * What follows a failed model call: the same model again, the next of the list, or the end.
 *
 * Owns the table of codes and the arithmetic of waiting. The roll of the dice and the instants arrive with the failures.
 *
 * model-choice-1  Each model is asked at most once and `maxRetries` times more; an attempt whose answer was lost does not count.
 */
import type { ErrorCode } from '../errors.ts'
import type { Instant } from '../ids.ts'
import { type RetryPolicy, retryDelayMs } from './retry.ts'

/** One attempt that gave no answer. `lost`: the process died in it. */
export type CallFailure =
  | { readonly kind: 'lost' }
  | {
      readonly kind: 'failed'
      readonly code: ErrorCode
      readonly detail: string
      readonly at: Instant
      readonly roll: number
      readonly retryAfterMs: number | null
    }

export type Choice =
  | { readonly kind: 'call'; readonly model: number; readonly notBefore: Instant | null }
  | { readonly kind: 'give_up'; readonly code: ErrorCode; readonly detail: string }

const AGAIN: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'RATE_LIMITED',
  'MODEL_UNAVAILABLE',
  'MODEL_TIMEOUT',
  'MODEL_BAD_RESPONSE',
  'STEP_TIMEOUT',
])
const NEXT: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'MODEL_AUTH',
  'MODEL_NOT_FOUND',
  'MODEL_CONTEXT_FULL',
  'CIRCUIT_OPEN',
])
/** A provider that wants more patience than this is left for another. */
const MAX_PATIENCE_MS = 600_000
const BACKOFF: Omit<RetryPolicy, 'maxAttempts'> = { baseMs: 1_000, factor: 2, maxMs: 60_000 }

const afterOne = (
  failure: Extract<CallFailure, { readonly kind: 'failed' }>,
  tries: number,
  maxRetries: number,
): 'again' | 'next' | 'end' => {
  if (NEXT.has(failure.code)) return 'next'
  if (!AGAIN.has(failure.code)) return 'end'
  return tries > maxRetries || (failure.retryAfterMs ?? 0) > MAX_PATIENCE_MS ? 'next' : 'again'
}

const pauseOf = (failure: Extract<CallFailure, { readonly kind: 'failed' }>, tries: number): Instant => {
  const backoff = retryDelayMs({ ...BACKOFF, maxAttempts: tries + 1 }, tries, failure.roll)
  return failure.at + Math.max(backoff, failure.retryAfterMs ?? 0)
}

/** Which model the next attempt asks, from the attempts before it: the list always begins with the first. */
export const chooseModel = (failures: readonly CallFailure[], models: number, maxRetries: number): Choice => {
  let model = 0
  let tries = 0
  let notBefore: Instant | null = null
  for (const failure of failures) {
    if (failure.kind === 'lost') continue
    tries++
    const verdict = afterOne(failure, tries, maxRetries)
    if (verdict === 'end' || (verdict === 'next' && model + 1 >= models))
      return { kind: 'give_up', code: failure.code, detail: failure.detail }
    notBefore = verdict === 'again' ? pauseOf(failure, tries) : null
    if (verdict === 'next') {
      model++
      tries = 0
    }
  }
  return { kind: 'call', model, notBefore }
}
