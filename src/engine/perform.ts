/**
 * The only caller of executors: one envelope in, one result out, bounded in time and open to abort.
 *
 * Owns timeout, abort and the last line of defence against an executor that throws. Never retries and never records.
 */
import { type Failure, isErrorCode } from '../model/errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Envelope, Executor, ExecutorResult } from '../ports/executor.ts'
import type { Deadlines } from './deadlines.ts'

export type Performed =
  | { readonly kind: 'done'; readonly status: 'success' | 'partial'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly retryable: boolean; readonly definite: boolean }

export interface Performance {
  readonly outcome: Promise<Performed>
  abort(failure: Failure): void
}

export interface PerformDeps {
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly executors: ReadonlyMap<string, Executor>
}

const failedWith = (failure: Failure, retryable: boolean, definite = false): Performed => ({ kind: 'failed', failure, retryable, definite })

/** An unknown code from a foreign executor is kept as text. */
const translate = (result: ExecutorResult): Performed => {
  if (result.status !== 'failed') return { kind: 'done', status: result.status, result: result.result }
  const { code, message, retryable, definite } = result.error
  const failure: Failure = isErrorCode(code) ? { code, message } : { code: 'EXECUTOR_FAILED', message: `${code}: ${message}` }
  return failedWith(failure, retryable, definite)
}

export const perform = (deps: PerformDeps, envelope: Envelope): Performance => {
  const executor = deps.executors.get(envelope.executorType)
  if (executor === undefined) {
    const failure: Failure = { code: 'EXECUTOR_FAILED', message: `no executor of type ${envelope.executorType} is registered` }
    return { outcome: Promise.resolve(failedWith(failure, false, true)), abort: () => {} }
  }
  const controller = new AbortController()
  let giveUp: (performed: Performed) => void = () => {}
  const abort = (failure: Failure): void => {
    giveUp(failedWith(failure, true))
    controller.abort(new Error(failure.message))
  }
  const { timeoutMs } = envelope.constraints
  const deadline = deps.deadlines.add(deps.clock.now() + timeoutMs, () =>
    abort({ code: 'STEP_TIMEOUT', message: `no result within ${timeoutMs} ms` }),
  )
  // Not awaited to the end: an executor that ignores its signal must not hold the run.
  const outcome = new Promise<Performed>((resolve) => {
    giveUp = resolve
    executor.execute(envelope, controller.signal).then(
      (result) => resolve(translate(result)),
      (error: unknown) => resolve(failedWith({ code: 'EXECUTOR_THREW', message: String(error) }, true)),
    )
  }).finally(() => deps.deadlines.remove(deadline))
  return { outcome, abort }
}
