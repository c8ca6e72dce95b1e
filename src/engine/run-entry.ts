/**
 * What a handler is given when it is entered: the run it stands in, its gate, and what it may ask for besides steps.
 *
 * Owns the intents that the handler makes outside of steps. Every run makes one, so that nothing is made before it is asked for.
 */
import type { Failure } from '../model/errors.ts'
import type { StoredEvent } from '../model/event.ts'
import type { RunId, TenantId } from '../model/ids.ts'
import type { Json } from '../model/json.ts'
import type { KeyedRow } from '../model/row-filter.ts'
import type { EmittedEvent, EntityMove, Entry, ScheduleContext, StepGate } from '../ports/step-gate.ts'
import { effectKeyOf } from './attempts.ts'
import { moveEntity } from './entity-move.ts'
import { Intents, sessionOf } from './intents.ts'
import { isToldOf } from './lifecycle.ts'
import type { Resident } from './resident.ts'

export class RunEntry implements Entry {
  readonly run: RunId
  readonly tenant: TenantId
  readonly attempt: number
  readonly input: Json
  readonly event: StoredEvent | null
  readonly events: readonly StoredEvent[]
  readonly schedule: ScheduleContext | null
  readonly gate: StepGate
  readonly intents: Intents
  private readonly resident: Resident

  constructor(resident: Resident, gate: StepGate, intents = new Intents()) {
    const { record, inputs, live } = resident
    this.run = record.id
    this.tenant = record.tenant
    this.attempt = (live?.failures ?? 0) + 1
    this.input = inputs.input
    this.event = record.event
    this.events = inputs.events
    this.schedule = inputs.schedule
    this.gate = gate
    this.intents = intents
    this.resident = resident
  }

  behind(gate: StepGate): Entry {
    return new RunEntry(this.resident, gate, this.intents)
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

  move(change: EntityMove): Promise<boolean> {
    return this.resident.whileActive(() => moveEntity(this.resident, change))
  }

  report(said: { readonly [name: string]: Json }): void {
    this.resident.report = said
  }

  isToldOf(type: string): boolean {
    const { house, record } = this.resident
    return isToldOf(house, record.handler, type)
  }

  hasTold(): boolean {
    return this.intents.events.length > 0 || this.resident.live?.hasTold === true
  }

  cancel(reason: string): void {
    const error: Failure = { code: 'RUN_CANCELLED', message: reason }
    const now = this.resident.house.clock.now()
    this.resident.ask({
      command: { type: 'cancel_run', now, by: 'trihand', error, idle: false },
      luggage: null,
      done: null,
    })
  }

  document(table: string, key: string): Promise<Json | null> {
    const { resident } = this
    return resident.whileActive(() => resident.house.document(resident.record.tenant, table, key))
  }

  documents(table: string, after: string | null, limit: number): Promise<readonly KeyedRow[]> {
    const { resident } = this
    return resident.whileActive(() => resident.house.documents({ tenant: resident.record.tenant, table, after, limit }))
  }
}
