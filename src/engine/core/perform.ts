/**
 * The only caller of executors: one envelope in, one result out, with a timeout and an abort.
 *
 * Owns timeout, abort, the last line of defence against an executor that throws, and the check of the usage it reports: models that
 * were not allowed, tokens that do not add up (model/agent/usage.ts). Never retries and never records.
 */
import { isAllowedModel, type PriceOf, type VerifiedUsage, verifyUsage } from '#model/agent/usage.ts'
import { type Failure, isErrorCode } from '#model/kernel/errors.ts'
import type { Instant } from '#model/kernel/ids.ts'
import type { Redaction } from '#model/kernel/redaction.ts'
import type { Clock } from '#ports/clock.ts'
import type { Abort, Envelope, Executor, ExecutorResult } from '#ports/executor.ts'
import { Deadline, type Deadlines } from './deadlines.ts'

export type ExecutionResult =
  | {
      readonly kind: 'done'
      readonly status: 'success' | 'partial'
      readonly result: unknown
      readonly paid: Paid | null
      readonly resumeToken: string | null
    }
  | Failed

interface Failed {
  readonly kind: 'failed'
  readonly failure: Failure
  readonly retryable: boolean
  readonly definite: boolean
  readonly paid: Paid | null
  readonly retryAfterMs: number | null
  /** The executor was told to stop, has not answered, and may still be at work. */
  readonly unanswered?: true
}

/** What a call used, after verification. Code in this process uses nothing and has none. */
export interface Paid {
  readonly usage: VerifiedUsage
  readonly modelUsed: string | null
}

export interface Execution {
  readonly begunAt: Instant
  /** Calls the executor. Separate from the construction, so that the caller can register the execution for an abort first. */
  begin(): void
  abort(failure: Failure): void
}

/** `performed` is called once and not before `begin`; within `begin`, if the executor answers synchronously. */
export interface ExecutionListener {
  performed(performed: ExecutionResult, execution: Execution): void
  /** Called if the executor answers after it was told to stop and `performed` was called without its answer. */
  late?(performed: ExecutionResult): void
}

/** Finds the executor of a type, if there is one. */
export interface Executors {
  get(type: string): Executor | undefined
}

export interface PerformDeps {
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly executors: Executors
  readonly price: PriceOf
  readonly redaction: Pick<Redaction, 'text'>
}

/** Code in this process: the body of a step, or a handler. */
export const INLINE = 'inline'

const STATUSES: ReadonlySet<unknown> = new Set(['success', 'partial', 'failed'])

const failedWith = (
  failure: Failure,
  retryable: boolean,
  definite = false,
  paid: Paid | null = null,
): ExecutionResult => ({
  kind: 'failed',
  failure,
  retryable,
  definite,
  paid,
  retryAfterMs: null,
})

const textOf = (value: unknown): string => {
  if (typeof value === 'string') return value
  const content = typeof value === 'object' && value !== null && 'content' in value ? value.content : null
  return typeof content === 'string' ? content : (JSON.stringify(value) ?? '')
}

/** The model that the engine chose for this attempt, if it chose one. */
const modelAsked = ({ input }: Envelope['task']): string | null => {
  const model = typeof input === 'object' && input !== null && 'model' in input ? input['model'] : null
  return typeof model === 'string' ? model : null
}

const weigh = (price: PriceOf, { task, constraints }: Envelope, result: ExecutorResult): Paid => {
  const { usage = null, modelUsed = null } = result
  const report = {
    usage,
    modelUsed,
    modelAsked: modelAsked(task),
    inputBytes: JSON.stringify(task.input).length,
    outputBytes: result.status === 'failed' ? 0 : textOf(result.result).length,
    maxTokens: constraints.maxTokens ?? null,
    mostInput: null,
  }
  return { usage: verifyUsage(report, price), modelUsed }
}

/** An unknown code from a foreign executor is kept as text. */
const translate = (price: PriceOf, envelope: Envelope, result: ExecutorResult): ExecutionResult => {
  if (!STATUSES.has(result.status)) throw new TypeError(`its status is ${JSON.stringify(result.status)}`)
  const paid = envelope.executorType === INLINE ? null : weigh(price, envelope, result)
  if (paid !== null && paid.modelUsed !== null && !isAllowedModel(paid.modelUsed, envelope.constraints.allowedModels)) {
    const message = `${paid.modelUsed} was used; allowed: ${envelope.constraints.allowedModels?.join(', ')}`
    return failedWith({ code: 'MODEL_NOT_ALLOWED', message }, false, false, paid)
  }
  if (result.status !== 'failed') {
    const { status, resumeToken = null } = result
    return { kind: 'done', status, result: result.result, paid, resumeToken }
  }
  const { code, message, retryable, definite, retryAfterMs = null } = result.error
  const failure: Failure = isErrorCode(code)
    ? { code, message }
    : { code: 'EXECUTOR_FAILED', message: `${code}: ${message}` }
  return { kind: 'failed', failure, retryable, definite, paid, retryAfterMs }
}

export const toPerform = (deps: PerformDeps, envelope: Envelope, listener: ExecutionListener): Execution =>
  new Running(deps, envelope, listener)

const unknownExecutor = (type: string): ExecutionResult =>
  failedWith({ code: 'EXECUTOR_UNKNOWN', message: `no executor of type ${type} is registered` }, false, true)

const threw = (error: unknown): ExecutionResult => failedWith({ code: 'EXECUTOR_THREW', message: String(error) }, true)

const isPromise = (answer: Promise<ExecutorResult> | ExecutorResult | null): answer is Promise<ExecutorResult> =>
  typeof answer === 'object' && answer !== null && 'then' in answer

/** Everything that one call needs, in one object, because every step makes one. */
class Running extends Deadline implements Execution, Abort {
  readonly begunAt: Instant
  readonly at: Instant
  private readonly deps: PerformDeps
  private readonly envelope: Envelope
  private listener: ExecutionListener | null
  private controller: AbortController | null = null
  private aborted: Failure | null = null
  /** The listener to notify if the executor answers after all. */
  private outlived: ExecutionListener | null = null

  constructor(deps: PerformDeps, envelope: Envelope, listener: ExecutionListener) {
    super()
    this.deps = deps
    this.envelope = envelope
    this.listener = listener
    this.begunAt = deps.clock.now()
    this.at = this.begunAt + envelope.constraints.timeoutMs
    deps.deadlines.add(this)
  }

  get signal(): AbortSignal {
    this.controller ??= new AbortController()
    if (this.aborted !== null) this.controller.abort(new Error(this.aborted.message))
    return this.controller.signal
  }

  begin(): void {
    const { executorType } = this.envelope
    const executor = this.deps.executors.get(executorType)
    if (executor === undefined) this.settle(unknownExecutor(executorType))
    else this.execute(executor)
  }

  private execute(executor: Executor): void {
    let answer: ReturnType<Executor['execute']>
    try {
      answer = executor.execute(this.envelope, this)
    } catch (error) {
      return this.settle(threw(error))
    }
    if (isPromise(answer)) this.hear(answer)
    else this.settle(this.translated(answer))
  }

  private hear(answer: Promise<ExecutorResult>): void {
    answer.then(
      (result) => this.settle(this.translated(result)),
      (error: unknown) => this.settle(threw(error)),
    )
  }

  /** An invalid answer must not crash the process. */
  private translated(result: ExecutorResult): ExecutionResult {
    try {
      return translate(this.deps.price, this.envelope, result)
    } catch (error) {
      return failedWith({ code: 'EXECUTOR_FAILED', message: `not a valid result: ${String(error)}` }, true)
    }
  }

  pass(): void {
    this.abort({ code: 'STEP_TIMEOUT', message: `no result within ${this.envelope.constraints.timeoutMs} ms` })
  }

  /** The outcome does not wait for the executor: one that ignores its signal must not hold the run. */
  abort(failure: Failure): void {
    this.aborted = failure
    // Deferred, because the caller of abort is in the middle of its own work.
    void Promise.resolve().then(() => this.giveUp(failure))
    this.controller?.abort(new Error(failure.message))
  }

  /** Redacts an error message: it may contain what the executor was called with, such as a key in an address or a refused header. */
  private cleaned(performed: ExecutionResult): ExecutionResult {
    if (performed.kind === 'done') return performed
    const { code, message } = performed.failure
    const text = this.deps.redaction.text(message)
    return text === message ? performed : { ...performed, failure: { code, message: text } }
  }

  private giveUp(failure: Failure): void {
    const { listener } = this
    if (listener === null) return
    if (listener.late !== undefined) this.outlived = listener
    this.settle({ ...failedWith(failure, true), unanswered: true } as ExecutionResult)
  }

  private settle(performed: ExecutionResult): void {
    const { listener } = this
    if (listener === null) return this.outlived?.late?.(this.cleaned(performed))
    this.listener = null
    this.deps.deadlines.remove(this)
    listener.performed(this.cleaned(performed), this)
  }
}
