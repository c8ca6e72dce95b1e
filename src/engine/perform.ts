/**
 * The only caller of executors: one envelope in, one result out, bounded in time and open to abort.
 *
 * Owns timeout, abort and the last line of defence against an executor that throws. Never retries and never records.
 */
import { type Failure, isErrorCode } from '../model/errors.ts'
import type { Clock } from '../ports/clock.ts'
import type { Abort, Envelope, Executor, ExecutorResult } from '../ports/executor.ts'
import type { Deadline, Deadlines } from './deadlines.ts'

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

export const perform = (deps: PerformDeps, envelope: Envelope): Performance => {
  const executor = deps.executors.get(envelope.executorType)
  if (executor === undefined) {
    const failure: Failure = {
      code: 'EXECUTOR_FAILED',
      message: `no executor of type ${envelope.executorType} is registered`,
    }
    return { outcome: Promise.resolve(failedWith(failure, false, true)), abort: () => {} }
  }
  const performance = new Running(deps, envelope)
  performance.begin(executor)
  return performance
}

class Running implements Performance, Abort {
  readonly outcome: Promise<Performed>
  private readonly deps: PerformDeps
  private readonly envelope: Envelope
  private readonly deadline: Deadline
  private resolve: (performed: Performed) => void = () => {}
  private controller: AbortController | null = null
  private aborted: Failure | null = null

  constructor(deps: PerformDeps, envelope: Envelope) {
    this.deps = deps
    this.envelope = envelope
    this.outcome = new Promise((resolve) => {
      this.resolve = resolve
    })
    const { timeoutMs } = envelope.constraints
    this.deadline = deps.deadlines.add(deps.clock.now() + timeoutMs, () =>
      this.abort({ code: 'STEP_TIMEOUT', message: `no result within ${timeoutMs} ms` }),
    )
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

  /** The outcome does not wait for the executor: one that ignores its signal must not hold the run. */
  abort(failure: Failure): void {
    this.aborted = failure
    this.settle(failedWith(failure, true))
    this.controller?.abort(new Error(failure.message))
  }

  private settle(performed: Performed): void {
    this.deps.deadlines.remove(this.deadline)
    this.resolve(performed)
  }
}
