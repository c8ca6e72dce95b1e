/**
 * The only caller of executors: one envelope in, one result out, bounded in time and open to abort.
 *
 * Owns timeout, abort and the last line of defence against an executor that throws. Never retries and never records.
 */
import { type Failure, isErrorCode } from '../model/errors.ts'
import type { Instant } from '../model/ids.ts'
import type { Clock } from '../ports/clock.ts'
import type { Abort, Envelope, Executor, ExecutorResult } from '../ports/executor.ts'
import type { Deadline, Deadlines } from './deadlines.ts'

export type Performed =
  | { readonly kind: 'done'; readonly status: 'success' | 'partial'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly retryable: boolean; readonly definite: boolean }

export interface Performance {
  abort(failure: Failure): void
}

/** Told once, and never before `perform` has answered. */
export type WhenPerformed = (performed: Performed) => void

export interface PerformDeps {
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly executors: ReadonlyMap<string, Executor>
}

const failedWith = (failure: Failure, retryable: boolean, definite = false): Performed => ({
  kind: 'failed',
  failure,
  retryable,
  definite,
})

/** An unknown code from a foreign executor is kept as text. */
const translate = (result: ExecutorResult): Performed => {
  if (result.status !== 'failed') return { kind: 'done', status: result.status, result: result.result }
  const { code, message, retryable, definite } = result.error
  const failure: Failure = isErrorCode(code)
    ? { code, message }
    : { code: 'EXECUTOR_FAILED', message: `${code}: ${message}` }
  return failedWith(failure, retryable, definite)
}

export const perform = (deps: PerformDeps, envelope: Envelope, done: WhenPerformed): Performance => {
  const executor = deps.executors.get(envelope.executorType)
  if (executor === undefined) {
    const failure: Failure = {
      code: 'EXECUTOR_FAILED',
      message: `no executor of type ${envelope.executorType} is registered`,
    }
    void Promise.resolve().then(() => done(failedWith(failure, false, true)))
    return { abort: () => {} }
  }
  const performance = new Running(deps, envelope, done)
  performance.begin(executor)
  return performance
}

/** Everything that one call needs, in one object: every step makes one. */
class Running implements Performance, Abort, Deadline {
  readonly at: Instant
  private readonly deps: PerformDeps
  private readonly envelope: Envelope
  private done: WhenPerformed | null
  private controller: AbortController | null = null
  private aborted: Failure | null = null

  constructor(deps: PerformDeps, envelope: Envelope, done: WhenPerformed) {
    this.deps = deps
    this.envelope = envelope
    this.done = done
    this.at = deps.clock.now() + envelope.constraints.timeoutMs
    deps.deadlines.add(this)
  }

  get signal(): AbortSignal {
    this.controller ??= new AbortController()
    if (this.aborted !== null) this.controller.abort(new Error(this.aborted.message))
    return this.controller.signal
  }

  begin(executor: Executor): void {
    executor.execute(this.envelope, this).then(
      (result) => this.settle(translate(result)),
      (error: unknown) => this.settle(failedWith({ code: 'EXECUTOR_THREW', message: String(error) }, true)),
    )
  }

  pass(): void {
    this.abort({ code: 'STEP_TIMEOUT', message: `no result within ${this.envelope.constraints.timeoutMs} ms` })
  }

  /** The outcome does not wait for the executor: one that ignores its signal must not hold the run. */
  abort(failure: Failure): void {
    this.aborted = failure
    // Not at once: whoever aborts is in the middle of something.
    void Promise.resolve().then(() => this.settle(failedWith(failure, true)))
    this.controller?.abort(new Error(failure.message))
  }

  private settle(performed: Performed): void {
    const { done } = this
    this.done = null
    this.deps.deadlines.remove(this)
    done?.(performed)
  }
}
