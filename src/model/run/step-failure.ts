/**
 * The errors that a handler sees when a step has failed for good: it may catch them and go on another way.
 *
 * Owns only the two errors that user code meets. They are recognised by their brand, never by instanceof, because two copies of the package must
 * agree.
 */
import type { ErrorCode, Failure } from '#model/kernel/errors.ts'

const BRAND = Symbol.for('trihand.step_failure')
const FINAL = Symbol.for('trihand.final_error')

/** Thrown by `await step.…` when the step has failed for good: catch it to go on another way. */
export class StepFailure extends Error {
  /** Why, as an error code. */
  readonly code: ErrorCode
  /** The step. */
  readonly step: string
  /** For a child run: the steps that it had finished before it failed. */
  readonly done: readonly string[]
  readonly [BRAND] = true

  constructor(step: string, failure: Failure) {
    super(`step ${step} failed: ${failure.message}`)
    this.name = 'StepFailure'
    this.code = failure.code
    this.step = step
    this.done = failure.done ?? []
  }
}

/** Throw it from a step or a handler when another try cannot help: `throw new FinalError('the card was declined')`. */
export class FinalError extends Error {
  readonly [FINAL] = true

  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.name = 'FinalError'
  }
}

export const isStepFailure = (error: unknown): error is StepFailure =>
  typeof error === 'object' && error !== null && BRAND in error
export const isFinal = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && (FINAL in error || BRAND in error)

/** The error's message with the steps already done, so that a person who decides on a retry sees what it would not repeat. */
export const whatHappened = (error: Error): string => {
  const done = isStepFailure(error) ? (error.done ?? []) : []
  return done.length === 0
    ? error.message
    : `${error.message}\n\nAlready done, and not repeated by a retry: ${done.join(', ')}.`
}
