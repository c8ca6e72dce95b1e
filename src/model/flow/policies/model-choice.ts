/**
 * Decides which model the next attempt of a call asks, and how long it waits, from the attempts before it.
 *
 * Owns the walk through the list and the arithmetic of waiting; fallback.ts decides what a code means. The random number (`roll`) arrives with
 * the failure.
 *
 * model-choice-1  Each model is asked at most once and `maxRetries` times more; an attempt whose answer was lost does not count.
 */
import { ERRORS, type ErrorCode } from '#model/kernel/errors.ts'
import { moveAfter } from './fallback.ts'
import { type RetryPolicy, retryDelayMs } from './retry.ts'

/** One attempt without an answer. `lost`: the process died during it. */
export type CallFailure =
  | { readonly kind: 'lost' }
  | {
      readonly kind: 'failed'
      readonly code: ErrorCode
      readonly detail: string
      readonly roll: number
      readonly retryAfterMs: number | null
    }

export type Choice =
  | { readonly kind: 'call'; readonly model: number; readonly waitMs: number }
  | { readonly kind: 'give_up'; readonly code: ErrorCode; readonly detail: string }

const BACKOFF: Omit<RetryPolicy, 'maxAttempts'> = { baseMs: 1_000, factor: 2, maxMs: 60_000 }

/** Every call starts with the first model of the list. */
export const chooseModel = (failures: readonly CallFailure[], models: number, maxRetries: number): Choice => {
  const maxAttempts = maxRetries + 1
  let model = 0
  let tries = 0
  let waitMs = 0
  for (const failure of failures) {
    if (failure.kind === 'lost') continue
    const { code, detail, retryAfterMs, roll } = failure
    tries++
    const { retryable } = ERRORS[code]
    const trouble = { code, retryable, tries, maxAttempts, hasNext: model + 1 < models, retryAfterMs }
    const move = moveAfter(trouble)
    if (move === 'fail') return { kind: 'give_up', code, detail }
    waitMs = move === 'next' ? 0 : Math.max(retryDelayMs({ ...BACKOFF, maxAttempts }, tries, roll), retryAfterMs ?? 0)
    if (move === 'next') {
      model++
      tries = 0
    }
  }
  return { kind: 'call', model, waitMs }
}
