/**
 * The attempts of a step that is performed: either its own code or a task for an executor.
 *
 * Owns when an attempt begins, with which circuit and intent, and how its result becomes a request. Which call of the handler
 * begins a step is in gate.ts; what a task's result means is in executor-call.ts.
 */
import { type Prepared, prepareValue, storePrepared } from '#engine/core/payloads.ts'
import { type Execution, type ExecutionResult, toPerform } from '#engine/core/perform.ts'
import type { ActiveRun } from '#engine/run/active-run.ts'
import type { Circuit } from '#manifest/flow/circuit.ts'
import type { Concurrency } from '#manifest/flow/flow.ts'
import { billOf } from '#model/agent/bill.ts'
import type { Failure } from '#model/kernel/errors.ts'
import { type RunId, type TenantId, taskUuid } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { attemptsOf, leftByLastAttempt } from '#model/run/attempt.ts'
import type { Chunk } from '#ports/model.ts'
import type { StepRequest, TaskRequest } from '#ports/step-port.ts'
import { completeStep, effectKeyOf, failAtOnce } from './attempt-commands.ts'
import { circuitFor } from './circuit-key.ts'
import { holdUntil } from './defer-step.ts'
import { ExecutorCall, type Verdict } from './executor-call.ts'
import { recordFailure } from './failed-attempt.ts'
import { Intents, intentsOf, packIntents } from './intents.ts'
import {
  type Attempted,
  answeredLate,
  asFailure,
  evidenceOf,
  isOpen,
  isStillMine,
  type LateEnd,
  makeSure,
  performerOf,
} from './once.ts'
import { requireTask } from './permissions.ts'
import { Renames } from './renamed.ts'
import { OnceBody, StepBody } from './step-body.ts'
import { StepMutex } from './step-mutex.ts'

type Heard = StepBody['heard']
type Work = StepRequest | TaskRequest

interface Begun {
  readonly attempt: number
  /** State carried over from the attempt before. */
  readonly carry: Json | null
  readonly heard: Heard
  /** The performer's id, as in the intent; null if the attempt is not of a `once` step. */
  readonly performer: string | null
}

const unansweredIn = (performed: ExecutionResult): true | undefined =>
  performed.kind === 'failed' ? performed.unanswered : undefined

const isOfSteps = ({ unit }: Concurrency): boolean => unit === 'step'

export class Attempts {
  private readonly activeRun: ActiveRun
  /** Null: the steps of the run may be performed concurrently. */
  private turns: StepMutex | null = null
  private renames: Renames | null = null

  constructor(activeRun: ActiveRun) {
    this.activeRun = activeRun
  }

  // -- what the code of a step receives ---------------------------------------------------------------------------------

  get run(): RunId {
    return this.activeRun.record.id
  }

  get tenant(): TenantId {
    return this.activeRun.record.tenant
  }

  effectKey(step: string): string {
    return effectKeyOf(this.activeRun, step)
  }

  tell(step: string, attempt: number, delta: Chunk): void {
    const { context, record, isGone } = this.activeRun
    if (!isGone) context.deltas.tell(record.id, step, attempt, delta)
  }

  // -- when an attempt begins -------------------------------------------------------------------------------------------

  begin(request: Work): void {
    const { context, record } = this.activeRun
    const definition = context.system().functions.get(record.handler)
    if (definition?.flow?.concurrency.some(isOfSteps) === true) this.turns ??= new StepMutex(this.activeRun)
    const circuit = definition?.circuit ?? null
    if (circuit === null) this.beginAttempt(request, null)
    else this.considerCircuit(request, circuitFor(circuit, this.activeRun))
  }

  private considerCircuit(request: Work, circuit: Circuit): void {
    void this.activeRun.whileActive(() => this.throughCircuit(request, circuit)).catch(() => {})
  }

  /** While the circuit is open, the run waits as for a timer, the step fails without an attempt, or its fallback answers. */
  private async throughCircuit(request: Work, circuit: Circuit): Promise<void> {
    const { circuits } = this.activeRun.context
    const admission = await circuits.admit(circuit)
    if (!isOpen(this.activeRun)) return
    if (admission.kind === 'go')
      return this.beginAttempt(
        request,
        (performed) => void circuits.report(circuit, performed, admission.probe).catch(() => {}),
      )
    const { step } = request
    // The result of the fallback says nothing about the target, so it is not reported to the breaker.
    if (circuit.whenOpen === 'fallback' && 'body' in request && request.fallback !== undefined)
      return this.beginAttempt({ ...request, body: request.fallback }, null)
    if (circuit.whenOpen !== 'wait') {
      const message = `${circuit.key} failed too often; calls wait until ${admission.until}`
      return failAtOnce(this.activeRun, step, this.nextAttempt(step), { code: 'CIRCUIT_OPEN', message })
    }
    holdUntil(this.activeRun, step, admission.until, () => this.begin(request))
  }

  private nextAttempt(step: string): number {
    const { live } = this.activeRun
    return live === null ? 1 : attemptsOf(live, step) + 1
  }

  private beginAttempt(request: Work, heard: Heard): void {
    if (this.turns === null) this.beginNow(request, heard)
    else this.beginInTurn(this.turns, request, heard)
  }

  /** Checks the run when the turn comes, because it may have been cancelled while the step was in the queue. */
  private beginInTurn(turns: StepMutex, request: Work, heard: Heard): void {
    turns.take(() => {
      if (isOpen(this.activeRun)) this.beginNow(request, heard)
      else turns.pass()
    })
  }

  private beginNow(request: Work, heard: Heard): void {
    const { live, context } = this.activeRun
    if (!context.worker.leases.isSure)
      return makeSure(
        this.activeRun,
        () => this.beginNow(request, heard),
        () => this.turns?.pass(),
      )
    const { step } = request
    const attempt = this.nextAttempt(step)
    this.activeRun.begin()
    // Fast path for nearly every step: no further object is allocated.
    if ('body' in request && request.effect !== 'once') return this.performBody(request, attempt, heard)
    const begun = { attempt, carry: live === null ? null : leftByLastAttempt(live, step), heard, performer: null }
    if (request.effect === 'once' && this.activeRun.claimed !== null) this.considerRenamed(request, begun)
    else if (request.effect === 'once') this.intend(request, begun)
    else this.perform(request, begun)
  }

  /** attempt-5: a person is asked first if the step may be a finished one under a new name. */
  private considerRenamed(request: Work, begun: Begun): void {
    const { step } = request
    const uncertain = {
      step,
      attempt: begun.attempt,
      effectKey: effectKeyOf(this.activeRun, step),
      evidence: evidenceOf(request),
    }
    this.renames ??= new Renames(this.activeRun)
    this.renames.consider(uncertain, (isNew) => {
      if (isNew) return this.intend(request, begun)
      this.turns?.pass()
      this.activeRun.end()
    })
  }

  /** attempt-2: the intent is in the ledger before the effect begins. */
  private intend(request: Work, begun: Begun): void {
    const { activeRun } = this
    const { step } = request
    const now = activeRun.context.clock.now()
    const performer = performerOf(activeRun, request, now)
    const evidence = evidenceOf(request)
    activeRun.ask({
      command: {
        ...{ type: 'intend_step', now, step, effectKey: effectKeyOf(activeRun, step), performer },
        ...(evidence !== null && { evidence }),
      },
      sideWrites: null,
      done: (answer) => {
        if (answer.kind === 'recorded' && answer.facts.length > 0)
          return this.performOnce(request, { ...begun, performer: performer.id }, performer.id)
        this.turns?.pass()
        activeRun.end()
      },
    })
  }

  /** The process may have stood still while the intent was written. If the attempt may then not begin, it has certainly not happened. */
  private performOnce(request: Work, begun: Begun, performer: string): void {
    if (this.activeRun.context.worker.leases.isSure) return this.perform(request, begun)
    const { step } = request
    const { attempt } = begun
    const leave = (failure: Failure): void => {
      this.turns?.pass()
      if (this.activeRun.isGone)
        return answeredLate(this.activeRun, { step, attempt, performer }, { kind: 'failed', failure })
      recordFailure(this.activeRun, request, attempt, {
        failure,
        retryable: true,
        definite: true,
        retry: request.retry,
        retryAfterMs: null,
      })
    }
    makeSure(this.activeRun, () => this.perform(request, begun), leave)
  }

  private perform(request: Work, begun: Begun): void {
    if (!('body' in request)) return this.performTask(request, begun)
    if (begun.performer === null) return this.performBody(request, begun.attempt, begun.heard)
    const body = new OnceBody(this, request, begun.attempt, begun.heard, begun.performer)
    this.start(toPerform(this.activeRun.context, body, body))
  }

  /** Ends every attempt, before its result is looked at. Returns true if the run is still in memory to record the result. */
  private over(step: string, heard: Heard, performed: ExecutionResult, execution: Execution): boolean {
    const { activeRun } = this
    const { context } = activeRun
    activeRun.executions.end(execution)
    context.deltas.over(activeRun.record.id, step)
    heard?.(performed)
    // An attempt that was aborted because the run has left says nothing about the step.
    if (activeRun.isGone) return false
    if (!context.observers.isEmpty) this.count(performed, context.clock.now() - execution.begunAt)
    return true
  }

  private count({ kind }: ExecutionResult, ms: number): void {
    const { context, record } = this.activeRun
    context.observers.tell((observer) => observer.performed(record.handler, kind === 'done', ms))
  }

  private start(execution: Execution): void {
    this.activeRun.executions.begin(execution)
    execution.begin()
  }

  // -- code -----------------------------------------------------------------------------------------------------------

  private performBody(request: StepRequest, attempt: number, heard: Heard): void {
    const body = new StepBody(this, request, attempt, heard)
    this.start(toPerform(this.activeRun.context, body, body))
  }

  bodyPerformed(body: StepBody, performed: ExecutionResult, execution: Execution): void {
    if (this.over(body.step, body.heard, performed, execution)) this.settleBody(body, performed)
    else if (unansweredIn(performed) !== true) body.late?.(performed)
    this.turns?.pass()
  }

  private settleBody({ request, attempt, intents }: StepBody, performed: ExecutionResult): void {
    if (performed.kind === 'done') return this.record(request.step, attempt, performed.result, intents)
    const { retryable, definite, failure, retryAfterMs, unanswered } = performed
    recordFailure(this.activeRun, request, attempt, {
      retryable,
      definite,
      failure,
      retryAfterMs,
      retry: request.retry,
      unanswered,
    })
  }

  // -- tasks ----------------------------------------------------------------------------------------------------------

  private performTask(request: TaskRequest, { attempt, carry, heard, performer }: Begun): void {
    const { activeRun } = this
    const { context, record } = activeRun
    const { step } = request
    const definition = context.system().functions.get(record.handler)
    const task = new ExecutorCall(request, attempt, carry, {
      run: record.id,
      taskId: taskUuid(context.ids.digest(`task\n${record.id}\n${step}`)),
      effectKey: effectKeyOf(activeRun, step),
      traceparent: record.event?.traceparent ?? null,
      limits: definition?.constraints ?? {},
    })
    try {
      requireTask(definition, request)
      task.check()
    } catch (error) {
      failAtOnce(activeRun, step, attempt, asFailure(error))
      this.turns?.pass()
      return activeRun.end()
    }
    const late = (performed: ExecutionResult): void => {
      if (performer === null) return
      const verdict = task.judge(performed)
      const result = verdict.kind === 'done' ? { kind: 'done' as const, result: verdict.outcome } : verdict
      this.answeredLate({ step, attempt, performer }, result)
    }
    this.start(
      toPerform(context, task.envelope, {
        performed: (performed, execution) => {
          if (this.over(step, heard, performed, execution))
            this.settleTask(request, attempt, task.judge(performed), unansweredIn(performed))
          else if (unansweredIn(performed) !== true) late(performed)
          this.turns?.pass()
        },
        ...(performer !== null && { late }),
      }),
    )
  }

  private settleTask(request: TaskRequest, attempt: number, verdict: Verdict, unanswered: true | undefined): void {
    if (verdict.kind === 'failed') return recordFailure(this.activeRun, request, attempt, { ...verdict, unanswered })
    const { outcome } = verdict
    let intents: Intents | null
    try {
      intents = intentsOf(this.activeRun.record.tenant, outcome.result)
    } catch (error) {
      return this.refuse(request.step, attempt, error)
    }
    this.record(request.step, attempt, outcome, intents)
  }

  // -- late answers ---------------------------------------------------------------------------------------------------

  answeredLate(about: Attempted, end: LateEnd): void {
    answeredLate(this.activeRun, about, end)
  }

  stillMine(): Promise<boolean> {
    return isStillMine(this.activeRun)
  }

  // -- recording ------------------------------------------------------------------------------------------------------

  private record(step: string, attempt: number, result: unknown, intents: Intents | null): void {
    const { activeRun } = this
    try {
      const prepared = prepareValue(activeRun.context, result)
      if (prepared.kind === 'inline' && intents === null) {
        completeStep(activeRun, { step, attempt, result: prepared.payload, sideWrites: null })
        return activeRun.end()
      }
      void this.recordWithIntents(step, attempt, prepared, intents ?? new Intents())
    } catch (error) {
      this.refuse(step, attempt, error)
    }
  }

  /** The code ran, but its result cannot be stored. A retry would not help. */
  private refuse(step: string, attempt: number, error: unknown): void {
    failAtOnce(this.activeRun, step, attempt, asFailure(error))
    this.activeRun.end()
  }

  private async recordWithIntents(step: string, attempt: number, prepared: Prepared, intents: Intents): Promise<void> {
    const { activeRun } = this
    try {
      await activeRun.whileActive(async () => {
        const { payload, value } = await storePrepared(activeRun.context, prepared)
        const bill = 'blob' in payload ? billOf(value) : null
        const result = bill === null ? payload : { ...payload, bill }
        const sideWrites = await packIntents(activeRun, effectKeyOf(activeRun, step), intents)
        completeStep(activeRun, { step, attempt, result, sideWrites })
      })
    } catch (error) {
      failAtOnce(activeRun, step, attempt, asFailure(error))
    }
    activeRun.end()
  }
}
