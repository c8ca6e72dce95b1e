/**
 * What a handler is given when it is entered: the run it stands in, its gate, and what it may ask for besides steps.
 *
 * Owns the intents that the handler makes outside of steps, and the call of its code. Every run makes one: it is its own envelope and
 * task, and nothing is made before it is asked for.
 */
import { causeOf } from '#engine/core/cause.ts'
import { isToldOf } from '#engine/core/lifecycle.ts'
import { INLINE } from '#engine/core/perform.ts'
import { effectKeyOf } from '#engine/step/attempt-commands.ts'
import { moveInTurn } from '#engine/step/entity-move.ts'
import { Intents, sessionOf } from '#engine/step/intents.ts'
import type { FunctionDefinition } from '#manifest/define/system.ts'
import type { AgentSpec } from '#model/agent/agent.ts'
import { type CallTerms, effectUnder } from '#model/agent/call-terms.ts'
import type { StoredEvent } from '#model/event/event.ts'
import { type Failure, TrihandError } from '#model/kernel/errors.ts'
import type { RunId, TenantId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { KeyedRow } from '#model/kernel/row-filter.ts'
import type { Abort, Constraints, Envelope, ExecutionContext, Task } from '#ports/executor.ts'
import type { EmittedEvent, EntityMove, Entry, ScheduleContext, StepGate } from '#ports/step-gate.ts'
import type { Resident } from './resident.ts'

/** A handler may stay in memory as long as its steps make progress; each step has its own timeout. */
const UNBOUNDED: Constraints = { timeoutMs: Number.POSITIVE_INFINITY }

/** A handler as the caller of this run wants it. */
const underTerms = (definition: FunctionDefinition, terms: CallTerms | undefined): FunctionDefinition => {
  if (terms === undefined) return definition
  const { effect, code, modality } = definition
  const agent = modality === 'agent' && terms.agent !== undefined ? { ...(code as AgentSpec), ...terms.agent } : code
  return { ...definition, effect: effectUnder(effect, terms), code: agent }
}

export class RunEntry implements Entry, Envelope, Task {
  readonly attempt: number
  readonly life: number
  readonly gate: StepGate
  readonly intents: Intents
  private readonly resident: Resident
  private readonly definition: FunctionDefinition | undefined

  constructor(
    resident: Resident,
    gate: StepGate,
    definition: FunctionDefinition | undefined,
    intents: Intents = new Intents(),
  ) {
    this.attempt = (resident.live?.failures ?? 0) + 1
    this.life = resident.live?.retried?.times ?? 0
    this.gate = gate
    this.intents = intents
    this.resident = resident
    this.definition = definition
  }

  // -- envelope and task ------------------------------------------------------------------------------------------------

  get taskId(): RunId {
    return this.resident.record.id
  }

  get executorType(): string {
    return INLINE
  }

  get task(): Task {
    return this
  }

  get context(): ExecutionContext {
    const { run, attempt, event } = this
    return { run, step: '', attempt, traceparent: event?.traceparent ?? null }
  }

  get constraints(): Constraints {
    return UNBOUNDED
  }

  get type(): string {
    return 'function'
  }

  call(abort: Abort): unknown {
    const { engine, record } = this.resident
    if (this.definition === undefined)
      throw new TrihandError('FUNCTION_NOT_IMPLEMENTED', `the system has no function ${record.handler}`)
    return engine.enter(this, underTerms(this.definition, this.resident.live?.start.terms), abort)
  }

  // -- what the handler is given ----------------------------------------------------------------------------------------

  get run(): RunId {
    return this.resident.record.id
  }

  get tenant(): TenantId {
    return this.resident.record.tenant
  }

  get input(): Json {
    return this.resident.inputs.input
  }

  get event(): StoredEvent | null {
    return this.resident.record.event
  }

  get events(): readonly StoredEvent[] {
    return this.resident.inputs.events
  }

  get requesters(): readonly string[] {
    return causeOf(this.resident.record, this.resident.state).requesters ?? []
  }

  get schedule(): ScheduleContext | null {
    return this.resident.inputs.schedule
  }

  behind(gate: StepGate): Entry {
    return new RunEntry(this.resident, gate, this.definition, this.intents)
  }

  effectKey(): string {
    return effectKeyOf(this.resident, '')
  }

  recall(key: string): Promise<Json | null> {
    const { resident } = this
    return resident.whileActive(async () => (await sessionOf(resident)).recall(key))
  }

  emit(event: EmittedEvent): void {
    this.intents.events.push(event)
  }

  write(table: string, key: string, value: Json): void {
    this.intents.documents.push({ tenant: this.resident.record.tenant, table, key, value })
  }

  move(entity: Pick<EntityMove, 'table' | 'key'>, next: (kept: Json | null) => EntityMove | null): Promise<void> {
    return this.resident.whileActive(() => moveInTurn(this.resident, entity, next))
  }

  report(said: { readonly [name: string]: Json }): void {
    this.resident.report = said
  }

  isToldOf(type: string): boolean {
    const { engine, record } = this.resident
    return isToldOf(engine, record.handler, type)
  }

  hasTold(): boolean {
    return this.intents.sends || this.resident.live?.hasTold === true
  }

  whileActive<T>(work: () => Promise<T>): Promise<T> {
    return this.resident.whileActive(work)
  }

  cancel(reason: string): void {
    const error: Failure = { code: 'RUN_CANCELLED', message: reason }
    const now = this.resident.context.clock.now()
    this.resident.ask({
      command: { type: 'cancel_run', now, by: 'trihand', error, idle: false },
      luggage: null,
      done: null,
    })
  }

  document(table: string, key: string): Promise<Json | null> {
    const { resident } = this
    return resident.whileActive(() => resident.context.document(resident.record.tenant, table, key))
  }

  documents(table: string, after: string | null, limit: number): Promise<readonly KeyedRow[]> {
    const { resident } = this
    return resident.whileActive(() =>
      resident.context.documents({ tenant: resident.record.tenant, table, after, limit }),
    )
  }
}
