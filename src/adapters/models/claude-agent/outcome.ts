/**
 * Turns a session's messages into an outcome: an answer, a call that is left to us, or a failure with one of our codes.
 *
 * Owns that translation. A failure may arrive twice, as a result and as a throw: it is one outcome.
 */
import { type ErrorCode, TrihandError } from '#model/kernel/errors.ts'
import { toJson } from '#model/kernel/json.ts'
import type { ModelAnswer, ModelFailure, ModelReply, ModelUsage } from '#ports/model.ts'
import type { SdkMessage } from './sdk.ts'
import { ownName } from './served.ts'
import type { LeftCall } from './transcript.ts'

export interface Failure {
  readonly code: ErrorCode
  readonly detail: string
}

const BY_STATUS: Readonly<Record<number, ErrorCode>> = {
  401: 'MODEL_AUTH',
  403: 'MODEL_AUTH',
  404: 'MODEL_NOT_FOUND',
  408: 'MODEL_TIMEOUT',
  409: 'MODEL_UNAVAILABLE',
  413: 'MODEL_CONTEXT_FULL',
  429: 'RATE_LIMITED',
}

const codeOfStatus = (status: number | null): ErrorCode => {
  const known = status === null ? undefined : BY_STATUS[status]
  if (known !== undefined) return known
  return status !== null && status >= 400 && status < 500 ? 'MODEL_REJECTED' : 'MODEL_UNAVAILABLE'
}

const BY_SUBTYPE: Readonly<Record<string, ErrorCode>> = {
  error_max_turns: 'AGENT_MAX_TURNS',
  error_max_budget_usd: 'BUDGET_EXCEEDED',
}

const codeOf = ({ subtype = '', terminal_reason, stop_reason, api_error_status = null }: SdkMessage): ErrorCode => {
  const limit = BY_SUBTYPE[subtype]
  if (limit !== undefined) return limit
  if (terminal_reason === 'prompt_too_long') return 'MODEL_CONTEXT_FULL'
  if (stop_reason === 'refusal') return 'MODEL_FILTERED'
  return codeOfStatus(api_error_status)
}

const text = (said: string): ModelAnswer['parts'] => [{ type: 'text', text: said }]

const reply = (
  finish: ModelAnswer['finish'],
  said: string,
  modelUsed: string,
  usage: ModelUsage | null,
  calls: ModelAnswer['calls'] = [],
): ModelAnswer => ({
  kind: 'reply',
  parts: said === '' ? [] : text(said),
  calls,
  finish,
  usage,
  modelUsed,
  responseId: null,
  warnings: [],
  simulated: false,
})

export const answeredWith = (said: string, model: string, usage: ModelUsage | null): ModelAnswer =>
  reply('stop', said, model, usage)

export const leftTo = ({ id, name, input }: LeftCall, said: string, model: string, usage: ModelUsage | null) =>
  reply('tools', said, model, usage, [{ id, tool: ownName(name) ?? name, input: toJson(input ?? {}) }])

export const failedWith = ({ code, detail }: Failure, usage: ModelUsage | null, said: string): ModelFailure => ({
  kind: 'failed',
  code,
  detail,
  retryAfterMs: null,
  usage,
  text: said === '' ? null : said,
})

/** The failure for an error that was thrown before there was a result. */
export const thrownAs = (error: unknown): Failure => {
  if (error instanceof TrihandError) return { code: error.code, detail: error.detail }
  return { code: 'MODEL_UNAVAILABLE', detail: error instanceof Error ? error.message : String(error) }
}

export const outcomeOf = (result: SdkMessage, said: string, model: string, usage: ModelUsage | null): ModelReply => {
  const { subtype, is_error = false, deferred_tool_use: left, api_error } = result
  if (left !== undefined && !is_error) return leftTo(left, said, model, usage)
  if (subtype === 'success' && !is_error) return answeredWith(result.result ?? '', model, usage)
  if (api_error === 'max_output_tokens') return reply('length', said, model, usage)
  const detail = result.errors?.join('; ') || result.result || `the session ended with ${subtype}`
  return failedWith({ code: codeOf(result), detail }, usage, said)
}
