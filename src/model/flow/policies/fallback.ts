/**
 * What to do after a model call has failed: retry the same model, ask the next one of the list, or give up.
 *
 * Owns the table of codes. Pure: the number of attempts and the rest of the list are arguments.
 */
import type { ErrorCode } from '#model/kernel/errors.ts'

export type ModelMove = 'again' | 'next' | 'fail'

/** Retrying the same model cannot help; another model may. */
const MOVES_ON: ReadonlySet<ErrorCode> = new Set([
  'MODEL_AUTH',
  'MODEL_NOT_FOUND',
  'MODEL_CONTEXT_FULL',
  'CIRCUIT_OPEN',
  // Another model may be cheaper, or have a price.
  'BUDGET_EXCEEDED',
  'BUDGET_UNPRICED',
])
/** If the wait is longer than this, the next model is asked instead. */
const MAX_PATIENCE_MS = 600_000

export interface ModelTrouble {
  readonly code: ErrorCode
  readonly retryable: boolean
  /** Attempts with this model so far, the failed one included. */
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
