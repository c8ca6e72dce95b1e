/**
 * A remote executor: the envelope goes over the wire, the result comes back.
 *
 * Owns what an answer, or a missing one, means. How a message is signed and sent is passed in (adapters/remote).
 *
 * remote-1  It sends one request; whatever goes wrong is a failure with a code, and it says whether the task happened only when that is known.
 */
import { ERRORS, type ErrorCode } from '#model/kernel/errors.ts'
import type { Executor, ExecutorResult } from '#ports/executor.ts'
import { CONTRACT, readResult, writeEnvelope } from './contract.ts'

/** Sends one signed message and returns its answer. Throws only if no answer was received. */
export type Post = (message: Message, signal: AbortSignal) => Promise<Answer>

export interface Message {
  /** New for every attempt; a repeat of the same message has the same id. */
  readonly id: string
  readonly body: string
}

export interface Answer {
  readonly status: number
  readonly body: string
  readonly retryAfterMs: number | null
}

/** Thrown where the other side was not reached, so that nothing can have happened. */
export class NotReached extends Error {}

const failed = (
  code: ErrorCode,
  message: string,
  rest: { readonly retryable?: boolean; readonly definite?: boolean; readonly retryAfterMs?: number | null } = {},
): ExecutorResult => {
  const { retryable = ERRORS[code].retryable, definite = false, retryAfterMs = null } = rest
  const wait = retryAfterMs === null ? {} : { retryAfterMs }
  return { status: 'failed', error: { code, message, retryable, definite, ...wait } }
}

const parsed = (body: string): unknown => {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

const MAX_QUOTED = 200

const judge = ({ status, body, retryAfterMs }: Answer): ExecutorResult => {
  if (status >= 200 && status < 300) return readResult(parsed(body))
  const told = `the executor answered ${status}: ${body.slice(0, MAX_QUOTED)}`
  if (status === 429) return failed('RATE_LIMITED', told, { definite: true, retryAfterMs })
  // A refusal: the executor says that it has not done the task, and will not.
  if (status < 500) return failed('EXECUTOR_FAILED', told, { retryable: false, definite: true })
  return failed('EXECUTOR_FAILED', told, { retryAfterMs })
}

export const remoteExecutor = (post: Post): Executor => ({
  async execute(envelope, abort) {
    const wire = { contract: CONTRACT, ...(writeEnvelope(envelope) as object) }
    const id = `${envelope.taskId}.${envelope.context.attempt}`
    try {
      return judge(await post({ id, body: JSON.stringify(wire) }, abort.signal))
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      return failed('EXECUTOR_FAILED', `no answer: ${message}`, { definite: error instanceof NotReached })
    }
  },
})
