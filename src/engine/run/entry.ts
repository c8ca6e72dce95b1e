/**
 * What a handler is given when it is entered: its run, its step gate, and what it may ask for besides steps.
 *
 * Owns the intents that the handler makes outside of steps, and the call of its code. Every run makes one, so it is its own envelope and
 * task, and nothing is created before it is needed.
 */
import { causeOf } from '#engine/core/cause.ts'
import { hasListener } from '#engine/core/lifecycle.ts'
import { INLINE } from '#engine/core/perform.ts'
import { effectKeyOf } from '#engine/step/attempt-commands.ts'
import { moveEntityInOrder } from '#engine/step/entity-move.ts'
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
import type { EmittedEvent, EntityMove, Entry, ScheduleContext, StepPort } from '#ports/step-port.ts'
import type { ActiveRun } from './active-run.ts'

/** A handler may stay in memory as long as its steps make progress; each step has its own timeout. */
const UNBOUNDED: Constraints = { timeoutMs: Number.POSITIVE_INFINITY }

/** Returns the handler's definition under the terms that the caller of this run has set. */
const underTerms = (definition: FunctionDefinition, terms: CallTerms | undefined): FunctionDefinition => {
  if (terms === undefined) return definition
  const { effect, code, modality } = definition
  const agent = modality === 'agent' && terms.agent !== undefined ? { ...(code as AgentSpec), ...terms.agent } : code
  return { ...definition, effect: effectUnder(effect, terms), code: agent }
}

export class RunEntry implements Entry, Envelope, Task {
  readonly attempt: number
  readonly life: number
  readonly gate: StepPort
  readonly intents: Intents
  private readonly activeRun: ActiveRun
  private readonly definition: FunctionDefinition | undefined

  constructor(
    activeRun: ActiveRun,
    gate: StepPort,
    definition: FunctionDefinition | undefined,
    intents: Intents = new Intents(),
  ) {
    this.attempt = (activeRun.live?.failures ?? 0) + 1
    this.life = activeRun.live?.retried?.times ?? 0
    this.gate = gate
    this.intents = intents
    this.activeRun = activeRun
    this.definition = definition
  }

  // -- envelope and task ------------------------------------------------------------------------------------------------

  get taskId(): RunId {
    return this.activeRun.record.id
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
    const { context: engine, record } = this.activeRun
    if (this.definition === undefined)
      throw new TrihandError('FUNCTION_NOT_IMPLEMENTED', `the system has no function ${record.handler}`)
    return engine.enter(this, underTerms(this.definition, this.activeRun.live?.start.terms), abort)
  }

  // -- what the handler is given ----------------------------------------------------------------------------------------

  get run(): RunId {
    return this.activeRun.record.id
  }

  get tenant(): TenantId {
    return this.activeRun.record.tenant
  }

  get input(): Json {
    return this.activeRun.inputs.input
  }

  get event(): StoredEvent | null {
    return this.activeRun.record.event
  }

  get events(): readonly StoredEvent[] {
    return this.activeRun.inputs.events
  }

  get requesters(): readonly string[] {
    return causeOf(this.activeRun.record, this.activeRun.state).requesters ?? []
  }

  get schedule(): ScheduleContext | null {
    return this.activeRun.inputs.schedule
  }

  behind(gate: StepPort): Entry {
    return new RunEntry(this.activeRun, gate, this.definition, this.intents)
  }

  effectKey(): string {
    return effectKeyOf(this.activeRun, '')
  }

  recall(key: string): Promise<Json | null> {
    const { activeRun } = this
    return activeRun.whileActive(async () => (await sessionOf(activeRun)).recall(key))
  }

  emit(event: EmittedEvent): void {
    this.intents.events.push(event)
  }

  write(table: string, key: string, value: Json): void {
    this.intents.documents.push({ tenant: this.activeRun.record.tenant, table, key, value })
  }

  move(entity: Pick<EntityMove, 'table' | 'key'>, next: (kept: Json | null) => EntityMove | null): Promise<void> {
    return this.activeRun.whileActive(() => moveEntityInOrder(this.activeRun, entity, next))
  }

  report(said: { readonly [name: string]: Json }): void {
    this.activeRun.report = said
  }

  isToldOf(type: string): boolean {
    const { context: engine, record } = this.activeRun
    return hasListener(engine, record.handler, type)
  }

  hasTold(): boolean {
    return this.intents.sends || this.activeRun.live?.hasTold === true
  }

  whileActive<T>(work: () => Promise<T>): Promise<T> {
    return this.activeRun.whileActive(work)
  }

  cancel(reason: string): void {
    const error: Failure = { code: 'RUN_CANCELLED', message: reason }
    const now = this.activeRun.context.clock.now()
    this.activeRun.ask({
      command: { type: 'cancel_run', now, by: 'trihand', error, idle: false },
      sideWrites: null,
      done: null,
    })
  }

  document(table: string, key: string): Promise<Json | null> {
    const { activeRun } = this
    return activeRun.whileActive(() => activeRun.context.document(activeRun.record.tenant, table, key))
  }

  documents(table: string, after: string | null, limit: number): Promise<readonly KeyedRow[]> {
    const { activeRun } = this
    return activeRun.whileActive(() =>
      activeRun.context.documents({ tenant: activeRun.record.tenant, table, after, limit }),
    )
  }
}
