/**
 * The coordinator logic of a schedule: starts a run for each slot, with the result of the previous run.
 *
 * Owns the reading of ends and outputs, and the creation of a scheduled run. The model decides which slots run (model/schedule/schedule.ts).
 */
import { advanceSchedule, CommandSequence } from '#engine/core/advance.ts'
import { firstCause } from '#engine/core/cause.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { routeAll } from '#engine/core/events.ts'
import { fetchValue, storeValue } from '#engine/core/payloads.ts'
import { type NewRun, newRun } from '#engine/run/new-run.ts'
import { leaseFor, resourceClaimOfDecided, rootsOfInput } from '#engine/run/resource-claim.ts'
import type { FunctionDefinition } from '#manifest/define/system.ts'
import { calendarsOf } from '#manifest/time/calendar.ts'
import type { ScheduleDefinition } from '#manifest/time/schedule.ts'
import type { Event } from '#model/event/event.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { readRunFact, readScheduleFact } from '#model/kernel/fact-codec.ts'
import {
  type GateId,
  type Instant,
  type RunId,
  type ScheduleId,
  type SessionId,
  scheduleId,
  type TenantId,
  timedRunId,
} from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { fold } from '#model/kernel/machine.ts'
import type { Payload } from '#model/kernel/payload.ts'
import type { Occasion, RunInput } from '#model/run/fact.ts'
import { run as runMachine } from '#model/run/run.ts'
import { scheduleWakeAt } from '#model/schedule/due.ts'
import type { LiveSchedule, ScheduleCommand, ScheduleFact, ScheduleState, ScheduleWorld } from '#model/schedule/fact.ts'
import { schedule } from '#model/schedule/schedule.ts'
import type { Ids } from '#ports/ids.ts'
import type { SealedFact, StreamRecord } from '#ports/ledger.ts'
import type { Checkpoint, CoordinatorLogic, Found, Spawned } from './coordinator-logic.ts'
import { endedRuns } from './ended-runs.ts'
import { PendingCancels } from './pending-cancels.ts'

export const scheduleOf = (ids: Pick<Ids, 'digest'>, tenant: TenantId, name: string): ScheduleId =>
  scheduleId(ids.digest(`schedule\n${tenant}\n${name}`))

export interface ScheduleConfig {
  readonly id: ScheduleId
  readonly definition: ScheduleDefinition
  /** The session whose memory all runs of the schedule share. */
  readonly session: SessionId
}

const NOTHING: Spawned = { runs: [], events: [] }

type Fired = Extract<ScheduleFact, { readonly type: 'schedule.fired' }>

export class ScheduleCoordinator implements CoordinatorLogic<ScheduleState, ScheduleFact> {
  /** The calendar and run ids that decisions need, here and for commands from outside. */
  readonly world: ScheduleWorld
  private readonly context: EngineContext
  private readonly config: ScheduleConfig
  private readonly pendingCancels: PendingCancels

  constructor(context: EngineContext, config: ScheduleConfig) {
    this.context = context
    this.config = config
    this.pendingCancels = new PendingCancels(context, 'the next run of its schedule replaces it')
    const { id, definition } = config
    this.world = {
      calendarOf: calendarsOf(definition.name, (text) => context.ids.digest(text)),
      runOf: (slot, request) => timedRunId(slot, context.ids.digest(`${id}\n${slot}\n${request ?? ''}`)),
    }
  }

  restore(record: StreamRecord, isWhole: boolean): ScheduleState | null {
    const facts = record.facts.map(readScheduleFact)
    const begin = facts.findLastIndex(({ type }) => type === 'schedule.checkpointed')
    if (begin === -1 && !isWhole) return null
    return fold(schedule, facts.slice(Math.max(0, begin)))
  }

  resumed(state: ScheduleState): void {
    if (state.kind === 'live')
      for (const { run, stopping } of state.running) if (stopping) this.pendingCancels.tell(run)
  }

  follow(state: ScheduleState, facts: readonly SealedFact[]): ScheduleState {
    return fold(schedule, facts.map(readScheduleFact), state)
  }

  async find(before: ScheduleState): Promise<Found<ScheduleState, ScheduleFact>> {
    if (before.kind !== 'live') return { facts: [], state: before, more: false }
    const ended = await this.ended(before)
    // Uses only this process's clock: a slot must not fire early because another clock is ahead.
    const now = this.context.clock.now()
    const { world } = this
    const turn = new CommandSequence<ScheduleState, ScheduleCommand, ScheduleFact>(before, advanceSchedule)
    for (const { run, status } of ended)
      turn.ask({ type: 'end_run', now, world, run, status, yielded: await this.yielded(run) })
    turn.ask({ type: 'pass_time', now, world })
    const { facts, state } = turn
    return { facts, state, more: false }
  }

  /** Returns the runs that have ended. If the schedule sends an event, it counts as ended when it is sent. */
  private ended({ running }: LiveSchedule): ReturnType<typeof endedRuns> {
    const runs = running.map(({ run }) => run)
    if (this.config.definition.target.kind !== 'emit') return endedRuns(this.context.ledger, runs)
    return Promise.resolve(runs.map((run) => ({ run, status: 'success' })))
  }

  passes(facts: readonly ScheduleFact[]): GateId | null {
    const { target } = this.config.definition
    const starts = target.kind !== 'emit' && facts.some(({ type }) => type === 'schedule.fired')
    return starts ? this.context.gates.gateFor(target.name) : null
  }

  async spawned(facts: readonly ScheduleFact[]): Promise<Spawned> {
    const { target } = this.config.definition
    const fired = facts.filter((fact) => fact.type === 'schedule.fired')
    if (target.kind === 'emit') return this.emit(fired)
    const definition = this.context.system().functions.get(target.name)
    if (definition === undefined) throw new TrihandError('NOT_FOUND', `there is no function ${target.name}`)
    const { payload } = await storeValue(this.context, this.config.definition.input)
    const occasions: Occasion[] = []
    for (const fact of fired) occasions.push(await this.occasion(fact))
    const inputs = occasions.map((occasion) => ({ kind: 'scheduled', payload, occasion }) as const)
    const gate = this.context.gates.gateFor(target.name)
    if (gate !== null) return this.passGate(gate, facts, inputs)
    // Slots are reserved only once nothing can fail any more.
    return { runs: fired.map((fact, i) => this.bear(fact, definition, inputs[i] as RunInput)), events: [] }
  }

  /** The handler's gate decides on its runs in the same append, and is notified of their ends through the schedule, their parent. */
  private async passGate(gate: GateId, facts: readonly ScheduleFact[], inputs: readonly RunInput[]): Promise<Spawned> {
    const { id: by, session, definition } = this.config
    const fired = facts.filter((fact) => fact.type === 'schedule.fired')
    const asked = fired.map(({ run, requesters }, i) => ({
      call: { run, input: inputs[i] as RunInput, session, by, ...(requesters !== undefined && { requesters }) },
      value: definition.input,
    }))
    const hasEnds = facts.some(({ type }) => type === 'schedule.run_ended')
    if (asked.length === 0) return { ...NOTHING, signals: hasEnds ? [gate] : [] }
    return this.context.gates.pass(definition.target.name, asked)
  }

  written(facts: readonly ScheduleFact[]): void {
    for (const fact of facts) if (fact.type === 'schedule.cancel_wanted') this.pendingCancels.tell(fact.run)
  }

  told(): Promise<void> {
    return this.pendingCancels.told()
  }

  async checkpoint(state: ScheduleState): Promise<Checkpoint<ScheduleState, ScheduleFact>> {
    const fact = { type: 'schedule.checkpointed', at: this.context.clock.now(), state } as const
    return { facts: [fact], state, documents: [] }
  }

  wakeAt(state: ScheduleState): Instant | null {
    return scheduleWakeAt(state, this.world.calendarOf)
  }

  /** The slot determines the event's id. The schedule does not track the runs that the event starts. */
  private emit(fired: readonly Fired[]): Spawned {
    const { context } = this
    const { name, target, input } = this.config.definition
    const events = fired.map(({ slot, run, requesters }): Event => {
      const id = `evt_${run}`
      const first = { correlationId: id, causationId: null, traceparent: null, hops: 0, chain: [] }
      const cause = requesters === undefined ? first : { ...first, requesters }
      const data = input ?? {}
      return {
        id,
        tenant: context.tenant,
        source: `schedule:${name}`,
        type: target.name,
        subject: null,
        time: slot,
        data,
        ...cause,
      }
    })
    return routeAll(context, events)
  }

  private bear(fact: Fired, definition: FunctionDefinition, input: RunInput): NewRun {
    const { context, config } = this
    const subject = { tenant: context.tenant, session: config.session, roots: rootsOfInput(config.definition.input) }
    const resourceClaim = resourceClaimOfDecided(definition, subject)
    return newRun(context, {
      id: fact.run,
      definition,
      systemHash: context.system().hash,
      tenant: context.tenant,
      now: context.clock.now(),
      input,
      cause: firstCause(fact.run, fact),
      event: null,
      session: config.session,
      parent: null,
      coordinator: config.id,
      resourceClaim,
      lease: leaseFor(resourceClaim, () => context.worker.reserve(definition.name)),
    })
  }

  private async occasion({ slot, missed, last }: Fired): Promise<Occasion> {
    const { name } = this.config.definition
    if (last === null) return { schedule: name, slot, missed, last }
    return { schedule: name, slot, missed, last: { ...last, output: await this.outputOf(last.run) } }
  }

  private async outputOf(run: RunId): Promise<Payload | null> {
    const [record] = await this.context.ledger.load([run])
    if (record == null) return null
    const state = fold(runMachine, record.facts.map(readRunFact))
    return state.kind === 'ended' ? state.output : null
  }

  /** The result of the adaptive rule for the run's output; null if there is no rule or the rule gives no boolean. */
  private async yielded(run: RunId): Promise<boolean | null> {
    const { yields } = this.config.definition
    if (yields === null) return null
    const payload = await this.outputOf(run)
    const output: Json = payload === null ? null : await fetchValue(this.context, payload)
    const answer = yields({ output, result: output })
    return answer.kind === 'value' && typeof answer.value === 'boolean' ? answer.value : null
  }
}
