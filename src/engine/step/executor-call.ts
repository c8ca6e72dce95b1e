/**
 * One attempt of a task for an executor: its envelope, and the verdict on its result.
 *
 * Owns which model is asked, what is carried over to the next attempt (model, resume token, usage), and what a partial result means.
 * Pure; never calls an executor (perform.ts) and never records (attempts.ts).
 *
 * task-attempt-1  Usage adds up over all attempts, also those that failed.
 * task-attempt-2  Each constraint is the stricter of the function's limit and the step's request.
 */
import type { ExecutionResult } from '#engine/core/perform.ts'
import { addUsage, isAllowedModel, NO_USAGE, type VerifiedUsage } from '#model/agent/usage.ts'
import { type Limits, stricter } from '#model/flow/policies/constraints.ts'
import { moveAfter } from '#model/flow/policies/fallback.ts'
import type { RetryPolicy } from '#model/flow/policies/retry.ts'
import { type ErrorCode, type Failure, TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Constraints, Envelope } from '#ports/executor.ts'
import type { TaskOutcome, TaskRequest } from '#ports/step-port.ts'

/** State that one attempt carries over to the next: plain JSON, stored with the fact. */
interface CarriedOver {
  /** Index in the list of models. */
  readonly model: number
  /** Number of attempts before this model's first. */
  readonly since: number
  readonly resumeToken: string | null
  readonly spent: VerifiedUsage
}

const FIRST: CarriedOver = { model: 0, since: 0, resumeToken: null, spent: NO_USAGE }

export interface TaskSetting {
  readonly run: string
  readonly taskId: string
  readonly effectKey: string
  readonly traceparent: string | null
  /** Limits of the function. */
  readonly limits: Limits
}

export type Verdict =
  | { readonly kind: 'done'; readonly outcome: TaskOutcome }
  | {
      readonly kind: 'failed'
      readonly failure: Failure
      readonly retryable: boolean
      readonly definite: boolean
      readonly retry: RetryPolicy
      readonly retryAfterMs: number | null
      readonly carry: Json
    }

const NO_DELAY = { baseMs: 0, factor: 1, maxMs: 0 } as const

export class ExecutorCall {
  readonly envelope: Envelope
  private readonly request: TaskRequest
  private readonly attempt: number
  private readonly carry: CarriedOver
  private readonly models: readonly string[]

  constructor(request: TaskRequest, attempt: number, carried: Json | null, setting: TaskSetting) {
    this.request = request
    this.attempt = attempt
    this.carry = carried === null ? FIRST : (carried as unknown as CarriedOver)
    const constraints = stricter(setting.limits, request.constraints) as Constraints
    this.models = request.models.length > 0 ? request.models : (constraints.allowedModels ?? [])
    const { step, executorType, context } = request
    const { resumeToken } = this.carry
    this.envelope = {
      taskId: setting.taskId,
      executorType,
      task: { type: request.task.type, input: this.withModel(request.task.input), call: null },
      context: {
        ...context,
        run: setting.run,
        step,
        attempt,
        traceparent: setting.traceparent,
        effectKey: setting.effectKey,
        ...(resumeToken === null ? {} : { resumeToken }),
      },
      constraints,
    }
  }

  /** Throws, before an executor is called, if the model is not allowed. */
  check(): void {
    const { model } = this
    const { allowedModels } = this.envelope.constraints
    if (model !== undefined && !isAllowedModel(model, allowedModels))
      throw new TrihandError('MODEL_NOT_ALLOWED', `${model} is not one of ${allowedModels?.join(', ')}`)
    if (allowedModels?.length === 0)
      throw new TrihandError('MODEL_NOT_ALLOWED', 'the function and the step allow no common model')
  }

  judge(performed: ExecutionResult): Verdict {
    const spent = performed.paid === null ? this.carry.spent : addUsage(this.carry.spent, performed.paid.usage)
    if (performed.kind === 'failed') return this.failed(performed, spent)
    const { status, result, resumeToken } = performed
    const { onPartial, retry } = this.request
    const goesOn = status === 'partial' && onPartial === 'continue' && this.attempt < retry.maxAttempts
    if (goesOn)
      return this.again('STEP_PARTIAL', 'the result is partial, and onPartial accepts it', { resumeToken, spent })
    if (status === 'partial' && onPartial === 'fail') {
      const failure = {
        code: 'STEP_PARTIAL',
        message: 'the result is partial, and onPartial makes it a failure',
      } as const
      return this.verdict(failure, { retryable: false, definite: true, retry, retryAfterMs: null, spent })
    }
    const modelUsed = performed.paid?.modelUsed ?? null
    const usageDisputed = spent.findings.length > 0
    return { kind: 'done', outcome: { status, result: result as Json, usage: spent, modelUsed, usageDisputed } }
  }

  private get model(): string | undefined {
    return this.models[this.carry.model]
  }

  private withModel(input: Json): Json {
    const { model } = this
    return model === undefined || input === null || typeof input !== 'object' || Array.isArray(input)
      ? input
      : { ...input, model }
  }

  private failed(performed: Extract<ExecutionResult, { readonly kind: 'failed' }>, spent: VerifiedUsage): Verdict {
    const { failure, retryable, definite, retryAfterMs } = performed
    const { retry } = this.request
    const hasNext = this.carry.model + 1 < this.models.length
    const tries = this.attempt - this.carry.since
    const { maxAttempts } = retry
    const move = moveAfter({ code: failure.code, retryable, tries, maxAttempts, hasNext, retryAfterMs })
    if (move === 'next') {
      const next = { ...this.carry, model: this.carry.model + 1, since: this.attempt }
      const policy = { ...NO_DELAY, maxAttempts: this.attempt + 1 }
      return this.verdict(failure, { retryable: true, definite, retry: policy, retryAfterMs: null, spent }, next)
    }
    const policy = { ...retry, maxAttempts: maxAttempts + this.carry.since }
    return this.verdict(failure, { retryable: move === 'again', definite, retry: policy, retryAfterMs, spent })
  }

  private again(
    code: ErrorCode,
    message: string,
    { resumeToken, spent }: { readonly resumeToken: string | null; readonly spent: VerifiedUsage },
  ): Verdict {
    const retry = { ...NO_DELAY, maxAttempts: this.attempt + 1 }
    const carry = { ...this.carry, resumeToken }
    return this.verdict({ code, message }, { retryable: true, definite: true, retry, retryAfterMs: null, spent }, carry)
  }

  private verdict(
    failure: Failure,
    rest: Omit<Extract<Verdict, { readonly kind: 'failed' }>, 'kind' | 'failure' | 'carry'> & {
      readonly spent: VerifiedUsage
    },
    carry: CarriedOver = this.carry,
  ): Verdict {
    const { spent, ...how } = rest
    return { kind: 'failed', failure, ...how, carry: { ...carry, spent } as unknown as Json }
  }
}
