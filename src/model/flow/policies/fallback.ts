/**
 * What to do after a model call has failed: the same model again, the next one of the list, or give up.
 *
 * Owns the table of codes. Pure: how often it was tried and what is left of the list are arguments.
 */
import type { ErrorCode } from '#model/kernel/errors.ts'

export type ModelMove = 'again' | 'next' | 'fail'

/** Asking the same model again cannot help; another may do. */
const MOVES_ON: ReadonlySet<ErrorCode> = new Set([
  'MODEL_AUTH',
  'MODEL_NOT_FOUND',
  'MODEL_CONTEXT_FULL',
  'CIRCUIT_OPEN',
  // Another model may be cheaper, or have a price.
  'BUDGET_EXCEEDED',
  'BUDGET_UNPRICED',
])
/** Beyond this the next model is asked instead of waiting. */
const MAX_PATIENCE_MS = 600_000

export interface ModelTrouble {
  readonly code: ErrorCode
  readonly retryable: boolean
  /** Attempts of this model so far, the failed one included. */
  readonly tries: number
  readonly maxAttempts: number
  readonly hasNext: boolean
  readonly retryAfterMs: number | null
}

export const moveAfter = ({ code, retryable, tries, maxAttempts, hasNext, retryAfterMs }: ModelTrouble): ModelMove => {
  if (MOVES_ON.has(code)) return hasNext ? 'next' : 'fail'
  if (!retryable) return 'fail'
  const isPatient = (retryAfterMs ?? 0) <= MAX_PATIENCE_MS
  if (tries < maxAttempts && (isPatient || !hasNext)) return 'again'
  return hasNext ? 'next' : 'fail'
}
