/**
 * Maps a provider's refusal, a status and a text, to one of our error codes.
 *
 * Owns that mapping and the retry delay that a provider requests. Never decides whether to retry.
 */
import type { ErrorCode } from '#model/kernel/errors.ts'
import type { ModelFailure } from '#ports/model.ts'

export interface Refusal {
  readonly status: number
  readonly headers: Readonly<Record<string, string | undefined>>
  /** As the provider sent it. */
  readonly body: string
  readonly message: string
}

const MAX_DETAIL = 500

/** Providers spell it as a code, as a type or in a sentence. */
const CONTEXT_FULL = /context[ _-](length|window|size)|prompt is too long|maximum context|too many (input )?tokens/i

const codeOf = ({ status, body, message }: Refusal): ErrorCode => {
  switch (status) {
    case 401:
    case 403:
      return 'MODEL_AUTH'
    case 404:
      return 'MODEL_NOT_FOUND'
    case 408:
      return 'MODEL_TIMEOUT'
    case 409:
      return 'MODEL_UNAVAILABLE'
    case 413:
      return 'MODEL_CONTEXT_FULL'
    case 429:
      return 'RATE_LIMITED'
    default:
      if (status >= 500) return 'MODEL_UNAVAILABLE'
      return CONTEXT_FULL.test(body) || CONTEXT_FULL.test(message) ? 'MODEL_CONTEXT_FULL' : 'MODEL_REJECTED'
  }
}

/** `retry-after` in seconds or as a date, or the milliseconds that some providers add. Null: no usable value. */
const retryAfterOf = (headers: Refusal['headers'], now: number): number | null => {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN)
  if (Number.isFinite(ms) && ms >= 0) return Math.ceil(ms)
  const text = headers['retry-after']
  if (text === undefined || text.trim() === '') return null
  const seconds = Number(text)
  if (Number.isFinite(seconds)) return seconds >= 0 ? Math.ceil(seconds * 1_000) : null
  const at = Date.parse(text)
  return Number.isNaN(at) ? null : Math.max(0, at - now)
}

export const failed = (
  code: ErrorCode,
  detail: string,
  rest: Partial<Pick<ModelFailure, 'retryAfterMs' | 'usage' | 'text' | 'isUnbilled'>> = {},
): ModelFailure => ({
  kind: 'failed',
  code,
  detail: detail.slice(0, MAX_DETAIL),
  retryAfterMs: rest.retryAfterMs ?? null,
  usage: rest.usage ?? null,
  text: rest.text ?? null,
  ...(rest.isUnbilled === true ? { isUnbilled: true } : {}),
})

/** True if the refusal came before a model started. A gateway that timed out or a server that broke may have started one. */
const isUnbilled = (status: number): boolean => (status < 500 && status !== 408) || status === 503 || status === 529

export const refused = (refusal: Refusal, now: number, text: string | null): ModelFailure =>
  failed(codeOf(refusal), `${refusal.status}: ${refusal.message}`, {
    retryAfterMs: retryAfterOf(refusal.headers, now),
    text,
    ...(isUnbilled(refusal.status) ? { isUnbilled: true } : {}),
  })
