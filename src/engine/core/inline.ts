/**
 * The executor of code in this process: the body of a step, or a handler.
 *
 * Owns the place where an exception becomes a result. Never retries (executor-contract 4) and has no timeout of its own.
 */

import { isErrorCode, TrihandError } from '#model/kernel/errors.ts'
import { isPartial, partialValue } from '#model/run/partial.ts'
import { isFinal, isStepFailure } from '#model/run/step-failure.ts'
import type { Abort, Envelope, Executor, ExecutorResult } from '#ports/executor.ts'

const MAX_MESSAGE = 2_000

const messageOf = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error)
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text
}

const failed = (error: unknown): ExecutorResult => {
  if (error instanceof TrihandError) {
    const { code, detail: message, retryable } = error
    // A programming mistake: asking a person whether the step happened would not help.
    return { status: 'failed', error: { code, message, retryable, definite: code === 'STEP_MISUSED' } }
  }
  const code = isStepFailure(error) && isErrorCode(error.code) ? error.code : 'FUNCTION_FAILED'
  const final = isFinal(error)
  return { status: 'failed', error: { code, message: messageOf(error), retryable: !final, definite: final } }
}

const succeeded = (result: unknown): ExecutorResult =>
  isPartial(result) ? { status: 'partial', result: partialValue(result) } : { status: 'success', result }

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  ((typeof value === 'object' && value !== null) || typeof value === 'function') && 'then' in value

const call = (envelope: Envelope, abort: Abort): unknown => {
  if (envelope.task.call === null) throw new TrihandError('FUNCTION_NOT_IMPLEMENTED', 'there is no code to run')
  return envelope.task.call(abort)
}

export const inlineExecutor: Executor = {
  // Not an async function: most bodies return at once, and each await would cost a turn and two objects per step.
  execute(envelope: Envelope, abort: Abort): Promise<ExecutorResult> | ExecutorResult {
    try {
      const result = call(envelope, abort)
      return isThenable(result) ? Promise.resolve(result).then(succeeded, failed) : succeeded(result)
    } catch (error) {
      return failed(error)
    }
  },
}
