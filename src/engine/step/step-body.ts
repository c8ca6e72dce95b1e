/**
 * One attempt of a step's code, and the context that the code receives.
 *
 * Owns the context of a body, the envelope and the task that call it, and the intents it makes. Created once per attempt on the hot path:
 * one object is all of these, and whatever is rarely used is created on demand.
 */
import { type Execution, type ExecutionListener, type ExecutionResult, INLINE } from '#engine/core/perform.ts'
import type { RunId, TenantId } from '#model/kernel/ids.ts'
import { toJson } from '#model/kernel/json.ts'
import type { Abort, Constraints, Envelope, ExecutionContext, Task } from '#ports/executor.ts'
import type { Chunk } from '#ports/model.ts'
import type { StepContext, StepRequest } from '#ports/step-port.ts'
import { Intents } from './intents.ts'
import type { Attempted, LateEnd } from './once.ts'

interface Host {
  readonly run: RunId
  readonly tenant: TenantId
  effectKey(step: string): string
  tell(step: string, attempt: number, delta: Chunk): void
  stillMine(): Promise<boolean>
  answeredLate(about: Attempted, end: LateEnd): void
  bodyPerformed(body: StepBody, performed: ExecutionResult, execution: Execution): void
}

export class StepBody implements StepContext, Envelope, Task, ExecutionContext, ExecutionListener {
  readonly request: StepRequest
  readonly attempt: number
  /** Called with the result of the attempt before it is recorded. */
  readonly heard: ((performed: ExecutionResult) => void) | null
  intents: Intents | null = null
  protected readonly host: Host
  private abort: Abort | null = null

  constructor(host: Host, request: StepRequest, attempt: number, heard: StepBody['heard']) {
    this.host = host
    this.request = request
    this.attempt = attempt
    this.heard = heard
  }

  /** Receives an answer that comes too late to count. Defined only where such an answer is evidence (`OnceBody`). */
  late?(performed: ExecutionResult): void

  performed(performed: ExecutionResult, execution: Execution): void {
    this.host.bodyPerformed(this, performed, execution)
  }

  // -- envelope, task and execution context -----------------------------------------------------------------------------

  get taskId(): RunId {
    return this.host.run
  }

  get executorType(): string {
    return INLINE
  }

  get task(): Task {
    return this
  }

  get context(): ExecutionContext {
    return this
  }

  get constraints(): Constraints {
    return this.request
  }

  get type(): string {
    return 'step'
  }

  get input(): null {
    return null
  }

  get run(): RunId {
    return this.host.run
  }

  get step(): string {
    return this.request.step
  }

  get traceparent(): null {
    return null
  }

  call(abort: Abort): unknown {
    this.abort = abort
    return this.request.body(this)
  }

  // -- what the code receives -------------------------------------------------------------------------------------------

  get signal(): AbortSignal {
    return this.abort === null ? AbortSignal.abort() : this.abort.signal
  }

  // Getters that return a bound function, because authors destructure the context: `({ emit }) => emit(…)`.
  get emit(): StepContext['emit'] {
    return (type, data, options) => {
      this.intend().events.push({ type, data: toJson(data), subject: options?.subject ?? null })
    }
  }

  get write(): StepContext['write'] {
    return (table, key, value) => {
      this.intend().documents.push({ tenant: this.host.tenant, table, key, value: toJson(value) })
    }
  }

  get remember(): StepContext['remember'] {
    return (key, value) => {
      this.intend().memory.set(key, toJson(value))
    }
  }

  get tell(): StepContext['tell'] {
    return (delta) => this.host.tell(this.request.step, this.attempt, delta)
  }

  get effectKey(): string {
    return this.host.effectKey(this.request.step)
  }

  get stillMine(): StepContext['stillMine'] {
    return async () => !this.signal.aborted && (await this.host.stillMine()) && !this.signal.aborted
  }

  private intend(): Intents {
    this.intents ??= new Intents()
    return this.intents
  }
}

/** One attempt that may happen once: an answer that comes too late is evidence. */
export class OnceBody extends StepBody {
  private readonly performer: string

  constructor(host: Host, request: StepRequest, attempt: number, heard: StepBody['heard'], performer: string) {
    super(host, request, attempt, heard)
    this.performer = performer
  }

  override late(performed: ExecutionResult): void {
    const { step, attempt, performer } = this
    this.host.answeredLate({ step, attempt, performer }, performed)
  }
}
