/**
 * The attempts of a step that is performed: code of its own, or a task for an executor.
 *
 * Owns when an attempt begins, under which circuit and intent, and how its result becomes a request. Which call of the handler
 * begins a step is the gate's; what a task's result means is task-attempt.ts.
 */
import type { Circuit } from '../manifest/circuit.ts'
import type { Concurrency } from '../manifest/flow.ts'
import { attemptsOf, carryOf } from '../model/attempt.ts'
import { type Failure, TrihandError } from '../model/errors.ts'
import { type RunId, type TenantId, taskUuid } from '../model/ids.ts'
import type { Json } from '../model/json.ts'
import type { Payload } from '../model/payload.ts'
import type { RetryPolicy } from '../model/policies/retry.ts'
import type { RunCommand } from '../model/run-fact.ts'
import type { Delta } from '../ports/model.ts'
import type { StepRequest, TaskRequest } from '../ports/step-gate.ts'
import { doubtTask } from './doubt.ts'
import { holdUntil } from './hold.ts'
import { Intents, intentsOf, packIntents } from './intents.ts'
import { type Prepared, prepareValue, storePrepared } from './payloads.ts'
import { type Performance, type Performed, toPerform } from './perform.ts'
import { Renames } from './renamed.ts'
import type { Luggage } from './request.ts'
import type { Resident } from './resident.ts'
import { demandTask } from './rights.ts'
import { eventRoot } from './route.ts'
import { keyOf, RuleFailed } from './rule-values.ts'
import { StepBody } from './step-body.ts'
import { TaskAttempt, type Verdict } from './task-attempt.ts'
import { Turns } from './turns.ts'

type Heard = StepBody['heard']
type Work = StepRequest | TaskRequest

interface Begun {
  readonly attempt: number
  /** What the attempt before has left. */
  readonly carry: Json | null
  readonly heard: Heard
}

export const asFailure = (error: unknown): Failure =>
  error instanceof TrihandError
    ? { code: error.code, message: error.detail }
    : { code: 'INTERNAL', message: String(error) }

/** Whether the run is here, alive, neither cancelled nor paused, and steps may begin at all. */
export const isOpen = ({ isGone, live, house }: Resident): boolean =>
  !isGone && live !== null && live.cancel === null && live.pause === null && !house.worker.isStopped

/** One key for every attempt of a step; the empty step stands for the whole run. */
export const effectKeyOf = ({ record, house }: Resident, step: string): string =>
  `th1_${house.ids.digest(`${record.tenant}\n${record.id}\n${step}`)}`

const NONE: readonly never[] = []
const NO_RETRY: RetryPolicy = { maxAttempts: 1, baseMs: 0, factor: 1, maxMs: 0 }

/** Trying again could not help, and it is known that nothing has happened outside. */
export const failAtOnce = (resident: Resident, step: string, attempt: number, error: Failure): void => {
  const command: RunCommand = {
    type: 'fail_step',
    now: resident.house.clock.now(),
    step,
    attempt,
    error,
    retryable: false,
    definite: true,
    effect: 'idempotent',
    retry: NO_RETRY,
    roll: 0,
  }
  resident.ask({ command, luggage: null, done: null })
}

export const completeStep = (
  resident: Resident,
  done: { readonly step: string; readonly attempt: number; readonly result: Payload; readonly luggage: Luggage | null },
): void => {
  const { step, attempt, result, luggage } = done
  const events = luggage === null ? NONE : luggage.events.map(({ event }) => event.id)
  resident.ask({
    command: { type: 'complete_step', now: resident.house.clock.now(), step, attempt, result, events },
    luggage,
    done: null,
  })
}

/** The breaker of what this run calls. A key that cannot be worked out is the function's own: nothing is let by without one. */
const circuitFor = (circuit: Circuit, { record, inputs }: Resident): Circuit => {
  if (circuit.keyRule === null) return circuit
  const event = record.event === null ? null : eventRoot(record.event)
  try {
    const key = keyOf(circuit.keyRule, { event, payload: inputs.input }, 'circuit key')
    return key === '' ? circuit : { ...circuit, key: key.slice(0, MAX_KEY) }
  } catch (error) {
    if (error instanceof RuleFailed) return circuit
    throw error
  }
}

const MAX_KEY = 128

const isOfSteps = ({ unit }: Concurrency): boolean => unit === 'step'

export class Attempts {
  private readonly resident: Resident
  /** Null: its steps may be performed side by side. */
  private turns: Turns | null = null
  private renames: Renames | null = null

  constructor(resident: Resident) {
    this.resident = resident
  }

  // -- what the code of a step is handed --------------------------------------------------------------------------------

  get run(): RunId {
    return this.resident.record.id
  }

  get tenant(): TenantId {
    return this.resident.record.tenant
  }

  effectKey(step: string): string {
    return effectKeyOf(this.resident, step)
  }

  tell(step: string, attempt: number, delta: Delta): void {
    const { house, record, isGone } = this.resident
    if (!isGone) house.deltas.tell(record.id, step, attempt, delta)
  }

  // -- when an attempt begins -------------------------------------------------------------------------------------------

  begin(request: Work): void {
    const { house, record } = this.resident
    const definition = house.system().functions.get(record.handler)
    if (definition?.flow?.concurrency.some(isOfSteps) === true) this.turns ??= new Turns(this.resident)
    const circuit = definition?.circuit ?? null
    if (circuit === null) this.beginAttempt(request, null)
    else this.considerCircuit(request, circuitFor(circuit, this.resident))
  }

  private considerCircuit(request: Work, circuit: Circuit): void {
    void this.resident.whileActive(() => this.throughCircuit(request, circuit)).catch(() => {})
  }

  /** While the target is held back the run waits as for a timer, or the step fails, without an attempt; or its fallback answers. */
  private async throughCircuit(request: Work, circuit: Circuit): Promise<void> {
    const { circuits } = this.resident.house
    const admission = await circuits.admit(circuit)
    if (!isOpen(this.resident)) return
    if (admission.kind === 'go')
      return this.beginAttempt(
        request,
        (performed) => void circuits.report(circuit, performed, admission.probe).catch(() => {}),
      )
    const { step } = request
    // What it answers says nothing about the target, so that the breaker does not hear of it.
    if (circuit.whenOpen === 'fallback' && 'body' in request && request.fallback !== undefined)
      return this.beginAttempt({ ...request, body: request.fallback }, null)
    if (circuit.whenOpen !== 'wait') {
      const message = `${circuit.key} failed too often; calls are held back until ${admission.until}`
      return failAtOnce(this.resident, step, this.nextAttempt(step), { code: 'CIRCUIT_OPEN', message })
    }
    holdUntil(this.resident, step, admission.until, () => this.begin(request))
  }

  private nextAttempt(step: string): number {
    const { live } = this.resident
    return live === null ? 1 : attemptsOf(live, step) + 1
  }

  private beginAttempt(request: Work, heard: Heard): void {
    if (this.turns === null) this.beginNow(request, heard)
    else this.beginInTurn(this.turns, request, heard)
  }

  /** The run may have been cancelled while the step stood in line. */
  private beginInTurn(turns: Turns, request: Work, heard: Heard): void {
    turns.take(() => {
      if (isOpen(this.resident)) this.beginNow(request, heard)
      else turns.pass()
    })
  }

  private beginNow(request: Work, heard: Heard): void {
    const { live } = this.resident
    const { step } = request
    const attempt = this.nextAttempt(step)
    this.resident.begin()
    // Nearly every step: nothing more is made for it.
    if ('body' in request && request.effect !== 'once') return this.performBody(request, attempt, heard)
    const begun = { attempt, carry: live === null ? null : carryOf(live, step), heard }
    if (request.effect === 'once' && this.resident.claimed !== null) this.considerRenamed(request, begun)
    else if (request.effect === 'once') this.intend(request, begun)
    else this.perform(request, begun)
  }

  /** attempt-5. */
  private considerRenamed(request: Work, begun: Begun): void {
    const { step } = request
    const doubt = { step, attempt: begun.attempt, effectKey: this.effectKey(step) }
    this.renames ??= new Renames(this.resident)
    this.renames.consider(doubt, (isNew) => {
      if (isNew) return this.intend(request, begun)
      this.turns?.pass()
      this.resident.end()
    })
  }

  /** attempt-2: the intent is in the ledger before the effect begins. */
  private intend(request: Work, begun: Begun): void {
    const { resident } = this
    const { step } = request
    const now = resident.house.clock.now()
    resident.ask({
      command: { type: 'intend_step', now, step, effectKey: effectKeyOf(resident, step) },
      luggage: null,
      done: (answer) => {
        if (answer.kind === 'recorded' && answer.facts.length > 0) return this.perform(request, begun)
        this.turns?.pass()
        resident.end()
      },
    })
  }

  private perform(request: Work, begun: Begun): void {
    if ('body' in request) this.performBody(request, begun.attempt, begun.heard)
    else this.performTask(request, begun)
  }

  /** What every attempt comes to, before its result is looked at. Says whether the run is still here to record it. */
  private over(step: string, heard: Heard, performed: Performed, performance: Performance): boolean {
    const { resident } = this
    const { house } = resident
    resident.performances.end(performance)
    house.deltas.over(resident.record.id, step)
    heard?.(performed)
    // What was broken off because the run has left says nothing about the step.
    if (resident.isGone) return false
    if (!house.observers.isEmpty) this.count(performed, house.clock.now() - performance.begunAt)
    return true
  }

  private count({ kind }: Performed, ms: number): void {
    const { house, record } = this.resident
    house.observers.tell((observer) => observer.performed(record.handler, kind === 'done', ms))
  }

  private start(performance: Performance): void {
    this.resident.performances.begin(performance)
    performance.begin()
  }

  // -- code -----------------------------------------------------------------------------------------------------------

  private performBody(request: StepRequest, attempt: number, heard: Heard): void {
    const body = new StepBody(this, request, attempt, heard)
    this.start(toPerform(this.resident.house, body, body))
  }

  bodyPerformed(body: StepBody, performed: Performed, performance: Performance): void {
    if (this.over(body.step, body.heard, performed, performance)) this.settleBody(body, performed)
    this.turns?.pass()
  }

  private settleBody({ request, attempt, intents }: StepBody, performed: Performed): void {
    if (performed.kind === 'done') return this.record(request.step, attempt, performed.result, intents)
    const { retryable, definite, failure, retryAfterMs } = performed
    this.recordFailure(request, attempt, { retryable, definite, failure, retryAfterMs, retry: request.retry })
  }

  // -- tasks ----------------------------------------------------------------------------------------------------------

  private performTask(request: TaskRequest, { attempt, carry, heard }: Begun): void {
    const { resident } = this
    const { house, record } = resident
    const { step } = request
    const definition = house.system().functions.get(record.handler)
    const task = new TaskAttempt(request, attempt, carry, {
      run: record.id,
      taskId: taskUuid(house.ids.digest(`task\n${record.id}\n${step}`)),
      effectKey: effectKeyOf(resident, step),
      traceparent: record.event?.traceparent ?? null,
      limits: definition?.constraints ?? {},
    })
    try {
      demandTask(definition, request)
      task.check()
    } catch (error) {
      failAtOnce(resident, step, attempt, asFailure(error))
      this.turns?.pass()
      return resident.end()
    }
    this.start(
      toPerform(house, task.envelope, {
        performed: (performed, performance) => {
          if (this.over(step, heard, performed, performance)) this.settleTask(request, attempt, task.judge(performed))
          this.turns?.pass()
        },
      }),
    )
  }

  private settleTask(request: TaskRequest, attempt: number, verdict: Verdict): void {
    if (verdict.kind === 'failed') return this.recordFailure(request, attempt, verdict)
    const { outcome } = verdict
    let intents: Intents | null
    try {
      intents = intentsOf(this.resident.record.tenant, outcome.result)
    } catch (error) {
      return this.refuse(request.step, attempt, error)
    }
    this.record(request.step, attempt, outcome, intents)
  }

  // -- what is recorded -----------------------------------------------------------------------------------------------

  private record(step: string, attempt: number, result: unknown, intents: Intents | null): void {
    const { resident } = this
    try {
      const prepared = prepareValue(resident.house, result)
      if (prepared.kind === 'inline' && intents === null) {
        completeStep(resident, { step, attempt, result: prepared.payload, luggage: null })
        return resident.end()
      }
      void this.recordWithIntents(step, attempt, prepared, intents ?? new Intents())
    } catch (error) {
      this.refuse(step, attempt, error)
    }
  }

  /** The code ran; only its result cannot be kept. Running it again would not help. */
  private refuse(step: string, attempt: number, error: unknown): void {
    failAtOnce(this.resident, step, attempt, asFailure(error))
    this.resident.end()
  }

  private async recordWithIntents(step: string, attempt: number, prepared: Prepared, intents: Intents): Promise<void> {
    const { resident } = this
    try {
      await resident.whileActive(async () => {
        const { payload: result } = await storePrepared(resident.house, prepared)
        const luggage = await packIntents(resident, effectKeyOf(resident, step), intents)
        completeStep(resident, { step, attempt, result, luggage })
      })
    } catch (error) {
      failAtOnce(resident, step, attempt, asFailure(error))
    }
    resident.end()
  }

  private recordFailure(
    { step, effect }: Work,
    attempt: number,
    failed: Pick<
      Extract<Verdict, { readonly kind: 'failed' }>,
      'failure' | 'retryable' | 'definite' | 'retry' | 'retryAfterMs'
    > & {
      readonly carry?: Json
    },
  ): void {
    const { failure: error, retryable, definite, retry, retryAfterMs, carry } = failed
    const { clock, ids } = this.resident.house
    const now = clock.now()
    const doubt = effect === 'once' && !definite ? this.doubt(step, attempt, error) : null
    const command: RunCommand = {
      type: 'fail_step',
      now,
      step,
      attempt,
      error,
      retryable,
      definite,
      effect,
      retry,
      roll: ids.roll(),
      ...(retryAfterMs === null ? {} : { notBefore: now + retryAfterMs }),
      ...(carry === undefined ? {} : { carry }),
      ...(doubt === null ? {} : { task: doubt.task }),
    }
    this.resident.ask({ command, luggage: doubt?.luggage ?? null, done: null })
    this.resident.end()
  }

  private doubt(step: string, attempt: number, { code, message }: Failure): ReturnType<typeof doubtTask> {
    const effectKey = effectKeyOf(this.resident, step)
    return doubtTask(this.resident, { step, attempt, reason: `${code}: ${message}`, effectKey })
  }
}
