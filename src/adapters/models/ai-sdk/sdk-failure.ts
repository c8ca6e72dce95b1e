/**
 * Maps an error of the AI SDK to one of our error codes and a sentence for people.
 *
 * Owns that mapping. Recognises the SDK's errors by their names and members, not by class: one tree may contain several copies of it.
 */
import { type ErrorCode, TrihandError } from '#model/kernel/errors.ts'
import type { ModelFailure } from '#ports/model.ts'
import { failed, refused } from './provider-failure.ts'

/** How much of a piece of the answer an error quotes. */
const QUOTED = 160

const SDK_ERRORS: Readonly<Record<string, ErrorCode>> = {
  AI_EmptyResponseBodyError: 'MODEL_BAD_RESPONSE',
  AI_InvalidResponseDataError: 'MODEL_BAD_RESPONSE',
  AI_JSONParseError: 'MODEL_BAD_RESPONSE',
  AI_TypeValidationError: 'MODEL_BAD_RESPONSE',
  AI_NoContentGeneratedError: 'MODEL_BAD_RESPONSE',
  AI_NoOutputGeneratedError: 'MODEL_UNAVAILABLE',
  AI_NoSuchModelError: 'MODEL_NOT_FOUND',
  AI_LoadAPIKeyError: 'MODEL_AUTH',
}
const REFUSED = 'AI_APICallError'

interface SdkError extends Error {
  readonly statusCode?: number
  readonly responseHeaders?: Readonly<Record<string, string>>
  readonly responseBody?: string
  readonly text?: unknown
  readonly value?: unknown
  readonly data?: unknown
}

const isOfSdk = (error: unknown): error is SdkError => error instanceof Error && error.name.startsWith('AI_')

const EARLY = 'the answer ended early: the provider did not mark it as complete'

interface Start {
  readonly type?: unknown
  readonly message?: { readonly usage?: unknown } | null
}

/** Quotes the piece of the answer that the error is about, or names what the protocol requires and the piece lacks. */
const unreadable = ({ message, text, value }: SdkError): string => {
  if (typeof text === 'string') return `a part of the answer is not JSON: ${text.slice(0, QUOTED)}`
  if (value === undefined || value === null) return message
  const start = value as Start
  const isSilent = start.type === 'message_start' && typeof start.message === 'object' && !start.message?.usage
  if (isSilent) return 'the answer does not say how many tokens it used, which this protocol always does'
  return `a part of the answer does not match the protocol: ${JSON.stringify(value).slice(0, QUOTED)}`
}

/** The message of an error that came inside the stream, as the provider wrote it. */
const toldInside = (error: unknown): string => {
  const { type, message } = (typeof error === 'object' && error !== null ? error : {}) as Readonly<
    Record<string, unknown>
  >
  if (typeof message !== 'string') return JSON.stringify(error ?? EARLY)
  return `the provider ended the answer with an error: ${typeof type === 'string' ? `${type}, ` : ''}${message}`
}

/** For Anthropic the SDK reports an error in the first event as a status that was never sent, with the error itself as the body. */
const disguised = (body: string): SdkError | null => {
  if (!body.startsWith('{"name":"AI_')) return null
  try {
    return JSON.parse(body) as SdkError
  } catch {
    return null
  }
}

const ofCall = (error: SdkError, text: string | null): ModelFailure => {
  const { statusCode: status, responseHeaders: headers = {}, responseBody: body = '', message, cause } = error
  const first = disguised(body)
  if (first !== null) return failed('MODEL_BAD_RESPONSE', unreadable(first), { text })
  if (status !== undefined && status >= 400) return refused({ status, headers, body, message }, Date.now(), text)
  if (cause instanceof TrihandError) return failed(cause.code, cause.detail, { text })
  // Refused connections have no status; an unreadable answer has one, and the reason as its cause.
  return isOfSdk(cause)
    ? failed('MODEL_BAD_RESPONSE', unreadable(cause), { text })
    : failed('MODEL_UNAVAILABLE', message, { text })
}

/** `heard` is the text that arrived before the error. */
export const failureOf = (error: unknown, heard: string): ModelFailure => {
  const text = heard === '' ? null : heard
  if (error instanceof TrihandError) return failed(error.code, error.detail, { text })
  if (isOfSdk(error)) {
    const { name, message, data } = error
    if (name === REFUSED) return ofCall(error, text)
    // Without data the end of the answer is missing; the answer is not malformed.
    if (name === 'AI_InvalidResponseDataError' && data === undefined)
      return failed('MODEL_UNAVAILABLE', EARLY, { text })
    const code = SDK_ERRORS[name] ?? 'MODEL_REJECTED'
    if (name === 'AI_NoOutputGeneratedError') return failed(code, EARLY, { text })
    return failed(code, code === 'MODEL_BAD_RESPONSE' ? unreadable(error) : message, { text })
  }
  return failed('MODEL_UNAVAILABLE', error instanceof Error ? error.message : toldInside(error), { text })
}
