/**
 * The coordinators of a system: a gate for each handler whose flow control is stateful, and the declared schedules and queues.
 *
 * Owns which coordinators exist, their creation at every start, and the commands to them. Their life cycle is in coordinator.ts.
 */
import { advanceGate, advanceQueue, advanceSchedule } from '#engine/core/advance.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { ensureSession } from '#engine/services/sessions.ts'
import type { FunctionDefinition, System } from '#manifest/define/system.ts'
import type { FlowDefinition } from '#manifest/flow/flow.ts'
import { queueSource } from '#manifest/flow/queues.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { GateCommand, GateState } from '#model/flow/gate-fact.ts'
import { hearsJust } from '#model/flow/gate-read.ts'
import type { QueueCommand, QueueFact, QueueState } from '#model/flow/queue-fact.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { readScheduleFact } from '#model/kernel/fact-codec.ts'
import {
  type ClaimableId,
  type CoordinatorId,
  type GateId,
  type Instant,
  isRunId,
  namedSessionId,
  type QueueId,
  queueId,
  type RunId,
  type SessionId,
  type TenantId,
} from '#model/kernel/ids.ts'
import { comingSlots } from '#model/schedule/due.ts'
import type { ScheduleCommand, ScheduleFact, ScheduleState, ScheduleWorld } from '#model/schedule/fact.ts'
import type { Ids } from '#ports/ids.ts'
import type { StreamRecord } from '#ports/ledger.ts'
import { CoordinatorCommands, type CoordinatorRole } from './commands.ts'
import type { CoordinatorFact, CoordinatorLogic, Spawned } from './coordinator-logic.ts'
import type { FindLogic } from './coordinators.ts'
import { callGate, gateRole, isUndecidedAt, openAndListen, passGate } from './gate-calls.ts'
import { type AskedRetry, type AskedRun, type GateConfig, gateOf, type RetryAnswer } from './gate-config.ts'
import { GateCoordinator } from './gate-coordinator.ts'
import { retryAtGate } from './gate-retry.ts'
import { OPEN_FLOW } from './open-flow.ts'
import { type QueueConfig, QueueCoordinator } from './queue-coordinator.ts'
import { type ScheduleConfig, ScheduleCoordinator, scheduleOf } from './schedule-coordinator.ts'
import { FIRST_TAIL, lookAtCoordinator } from './state.ts'

interface Kept {
  readonly gates: ReadonlyMap<CoordinatorId, GateConfig>
  readonly schedules: ReadonlyMap<CoordinatorId, ScheduleConfig>
  readonly queues: ReadonlyMap<CoordinatorId, QueueConfig>
}

/** A command to a schedule without the time and the calendar, which are added here. */
type Ask<Command> = Command extends { readonly now: Instant; readonly world: ScheduleWorld }
  ? Omit<Command, 'now' | 'world'>
  : never

type AskGate =
  | { readonly type: 'pause_gate' | 'resume_gate'; readonly by: string }
  | Omit<Extract<GateCommand, { readonly type: 'withdraw_call' }>, 'now'>
  | Omit<Extract<GateCommand, { readonly type: 'follow' }>, 'now'>

type AskQueue =
  | Omit<Extract<QueueCommand, { readonly type: 'open_queue' }>, 'now'>
  | Omit<Extract<QueueCommand, { readonly type: 'revive' }>, 'now'>

type ScheduleRole = CoordinatorRole<ScheduleState, ScheduleFact, ScheduleCoordinator>
type QueueRole = CoordinatorRole<QueueState, QueueFact, QueueCoordinator>

export class CoordinatorRegistry {
  private readonly ids: Pick<Ids, 'digest'>
  private readonly tenant: TenantId
  private readonly books = new WeakMap<System, Kept>()
  private readonly commands = new CoordinatorCommands()
  /** Gates of handlers that no longer have flow control: they stay for the calls and events that wait in them. */
  private readonly leftOver = new Set<CoordinatorId>()

  constructor(ids: Pick<Ids, 'digest'>, tenant: TenantId) {
    this.ids = ids
    this.tenant = tenant
  }

  readonly findLogic: FindLogic = (context, system, id) => {
    const { gates, schedules, queues } = this.of(system)
    const gate = gates.get(id)
    if (gate !== undefined) return new GateCoordinator(context, gate) as CoordinatorLogic<unknown, CoordinatorFact>
    const queue = queues.get(id)
    if (queue !== undefined) return new QueueCoordinator(context, queue) as CoordinatorLogic<unknown, CoordinatorFact>
    const schedule = schedules.get(id)
    return schedule === undefined
      ? null
      : (new ScheduleCoordinator(context, schedule) as CoordinatorLogic<unknown, CoordinatorFact>)
  }

  /** Called at every start and when the definition changes: creates the declared coordinators. */
  async declare(context: EngineContext): Promise<void> {
    await this.findLeftOver(context)
    const { gates, schedules, queues } = this.of(context.system())
    for (const some of inParts([...gates.values()]))
      await Promise.all(some.map((config) => this.openGate(context, config)))
    for (const some of inParts([...schedules.values()])) await this.declareSchedules(context, some)
    for (const { definition, session } of queues.values()) {
      await ensureSession(context, session, 'daemon')
      await this.askQueue(context, definition.name, { type: 'open_queue' })
    }
  }

  /** Returns the gate that runs of this handler pass; null if they begin at once. */
  gateFor(system: System, handler: string): GateId | null {
    const definition = system.functions.get(handler)
    return definition !== undefined && hasGate(definition) ? gateOf(this.ids, this.tenant, handler) : null
  }

  async callGate(context: EngineContext, handler: string, asked: AskedRun): Promise<RunId> {
    return callGate(context, this.commands, this.gate(context, handler), asked)
  }

  async retryAtGate(context: EngineContext, handler: string, asked: AskedRetry): Promise<RetryAnswer> {
    return retryAtGate(context, this.commands, this.gate(context, handler), asked)
  }

  async passGate(context: EngineContext, handler: string, asked: readonly AskedRun[]): Promise<Spawned> {
    return passGate(context, await this.standing(context, handler), asked)
  }

  async follow(
    context: EngineContext,
    handler: string,
    who: { readonly run: RunId; readonly by: RunId },
  ): Promise<void> {
    await this.askGate(context, handler, { type: 'follow', ...who })
  }

  /** Returns the gate to notify of a run's end if it is not the parent: for child runs, and runs that other callers may be given. */
  hearsEnd(system: System, handler: string, parent: ClaimableId | null): GateId | null {
    const definition = system.functions.get(handler)
    if (definition === undefined || !hasGate(definition)) return null
    const mayBeFollowed = definition.flow.policies.idempotency?.onConflict === 'return_existing'
    if (!mayBeFollowed && (parent === null || !isRunId(parent))) return null
    const gate = gateOf(this.ids, this.tenant, handler)
    return parent === gate ? null : gate
  }

  isUndecided(context: EngineContext, handler: string, event: StoredEvent): Promise<boolean> {
    return isUndecidedAt(context, this.gate(context, handler), event)
  }

  /** Returns false if the call no longer waits. */
  async withdrawCall(
    context: EngineContext,
    handler: string,
    asked: { readonly run: RunId; readonly by: string; readonly detail: string },
  ): Promise<boolean> {
    try {
      await this.askGate(context, handler, { type: 'withdraw_call', ...asked })
      return true
    } catch (error) {
      if (error instanceof TrihandError && error.code === 'NOT_FOUND') return false
      throw error
    }
  }

  /** Returns the gate's config. A call that comes before the gates were declared creates the gate that it needs. */
  private async standing(context: EngineContext, handler: string): Promise<GateConfig> {
    const config = this.gate(context, handler)
    const [head] = await context.ledger.load([config.id], { after: Number.MAX_SAFE_INTEGER })
    if (head == null) await this.openGate(context, config)
    return config
  }

  private gate(context: EngineContext, handler: string): GateConfig {
    const config = this.of(context.system()).gates.get(gateOf(this.ids, this.tenant, handler))
    if (config !== undefined) return config
    const detail = `${handler} has no flow control, so it cannot be paused; give it some, for example whilePaused: 'hold'`
    throw new TrihandError('NOT_FOUND', detail)
  }

  async askGate(context: EngineContext, handler: string, ask: AskGate): Promise<GateState> {
    const config = this.gate(context, handler)
    return this.commands.ask(context, gateRole(context, config), {
      advance: (state, now) => advanceGate(state, { ...ask, now }),
    })
  }

  async askSchedule(context: EngineContext, name: string, ask: Ask<ScheduleCommand>): Promise<ScheduleState> {
    const config = this.schedule(context, name)
    const logic = () => new ScheduleCoordinator(context, config)
    const initial: ScheduleState = { kind: 'none' }
    const role: ScheduleRole = { id: config.id, handler: name, config, logic, initial }
    return this.commands.ask(context, role, {
      // Uses only this process's clock, like the logic: a slot must not fire early because another clock is ahead.
      advance: (state, _, { world }) =>
        advanceSchedule(state, { ...ask, now: context.clock.now(), world } as ScheduleCommand),
    })
  }

  queue(context: EngineContext, name: string): QueueConfig {
    const config = this.of(context.system()).queues.get(this.queueOf(name))
    if (config === undefined) throw new TrihandError('NOT_FOUND', `there is no queue ${name}`)
    return config
  }

  async askQueue(context: EngineContext, name: string, ask: AskQueue): Promise<QueueState> {
    const config = this.queue(context, name)
    const logic = () => new QueueCoordinator(context, config)
    const initial: QueueState = { kind: 'none' }
    const role: QueueRole = { id: config.id, handler: queueSource(name), config, logic, initial }
    return this.commands.ask(context, role, { advance: (state, now) => advanceQueue(state, { ...ask, now }) })
  }

  /** Dry run of a command: returns the facts and writes nothing. A refusal throws. */
  async tryOnSchedule(
    context: EngineContext,
    name: string,
    ask: Ask<ScheduleCommand>,
  ): Promise<readonly ScheduleFact[]> {
    const { world } = new ScheduleCoordinator(context, this.schedule(context, name))
    const { state } = await this.lookAtSchedule(context, name)
    const command = { ...ask, now: context.clock.now(), world } as ScheduleCommand
    const { facts, refusal } = advanceSchedule(state, command)
    if (refusal !== null) throw new TrihandError(refusal.code, refusal.detail)
    return facts
  }

  /** Returns the last facts of a schedule, oldest first. */
  async lastOfSchedule(context: EngineContext, name: string, last: number): Promise<readonly ScheduleFact[]> {
    const [record] = await context.ledger.load([this.schedule(context, name).id], { last })
    return (record?.facts ?? []).map(readScheduleFact)
  }

  /** Returns the schedule's state in the ledger, with the instants of its next slots. */
  async lookAtSchedule(
    context: EngineContext,
    name: string,
  ): Promise<{ readonly state: ScheduleState; readonly nextAt: Instant | null; readonly next: readonly Instant[] }> {
    const config = this.schedule(context, name)
    const logic = new ScheduleCoordinator(context, config)
    const state = (await lookAtCoordinator(context, config.id, logic))?.state ?? { kind: 'none' }
    const coming = { after: context.clock.now(), most: SHOWN_SLOTS }
    return { state, nextAt: logic.wakeAt(state), next: comingSlots(state, logic.world.calendarOf, coming) }
  }

  private schedule(context: EngineContext, name: string): ScheduleConfig {
    const config = this.of(context.system()).schedules.get(scheduleOf(this.ids, this.tenant, name))
    if (config === undefined) throw new TrihandError('NOT_FOUND', `there is no schedule ${name}`)
    return config
  }

  private async findLeftOver(context: EngineContext): Promise<void> {
    const system = context.system()
    const ids = [...system.functions.values()]
      .filter((one) => !hasGate(one))
      .map(({ name }) => gateOf(this.ids, this.tenant, name))
    if (ids.length === 0) return
    const heads = await context.ledger.load(ids, { after: Number.MAX_SAFE_INTEGER })
    ids.forEach((id, i) => {
      if (heads[i] != null) this.leftOver.add(id)
    })
    this.books.delete(system)
  }

  /** If many schedules are unchanged, two queries to the store show that there is nothing to do. */
  private async declareSchedules(context: EngineContext, keepings: readonly ScheduleConfig[]): Promise<void> {
    const { ledger } = context
    const sessions = keepings.map(({ session }) => session)
    const found = await ledger.load(sessions, { after: Number.MAX_SAFE_INTEGER })
    const missing = new Set(sessions.filter((_, i) => found[i] == null))
    await Promise.all([...missing].map((session) => ensureSession(context, session)))
    const records = await ledger.load(
      keepings.map(({ id }) => id),
      { last: FIRST_TAIL },
    )
    const changed = keepings.filter((config, i) => !this.isDeclared(context, config, records[i] ?? null))
    await Promise.all(
      changed.map(({ definition: { name, spec } }) =>
        this.askSchedule(context, name, { type: 'declare_schedule', spec }),
      ),
    )
  }

  private isDeclared(context: EngineContext, config: ScheduleConfig, record: StreamRecord | null): boolean {
    if (record === null) return false
    const logic = new ScheduleCoordinator(context, config)
    const state = logic.restore(record, record.facts.length === record.version)
    if (state === null) return false
    const { spec } = config.definition
    const command = { type: 'declare_schedule', spec, now: context.clock.now(), world: logic.world } as const
    return advanceSchedule(state, command).facts.length === 0
  }

  private async openGate(context: EngineContext, config: GateConfig): Promise<GateState> {
    const types = [...config.listeners.keys()]
    const position = await this.positionFor(context, config, types)
    return this.commands.ask(context, gateRole(context, config), {
      advance: (state, now) => openAndListen(state, now, types, position),
    })
  }

  /** Returns the end of the ledger's events if it matters: for an existing gate whose event types change. */
  private async positionFor(context: EngineContext, config: GateConfig, types: readonly string[]): Promise<number> {
    const restored = await lookAtCoordinator(context, config.id, new GateCoordinator(context, config))
    if (restored === null || restored.state.kind !== 'open') return 0
    if (hearsJust(restored.state, types)) return 0
    return lastSequence(context, Math.max(restored.state.cursor, restored.record.base))
  }

  private of(system: System): Kept {
    const known = this.books.get(system)
    if (known !== undefined) return known
    const kept = { gates: this.gatesOf(system), schedules: this.schedulesOf(system), queues: this.queuesOf(system) }
    this.books.set(system, kept)
    return kept
  }

  private gatesOf(system: System): Map<CoordinatorId, GateConfig> {
    const gates = new Map<CoordinatorId, GateConfig>()
    for (const definition of system.functions.values()) {
      const id = gateOf(this.ids, this.tenant, definition.name)
      if (!hasGate(definition)) {
        if (this.leftOver.has(id)) gates.set(id, { id, definition, flow: OPEN_FLOW, listeners: new Map() })
        continue
      }
      const { flow } = definition
      const listeners = [...system.listeners].flatMap(([type, all]) =>
        all.filter(({ handler }) => handler === definition).map((listener) => [type, listener] as const),
      )
      gates.set(id, { id, definition, flow, listeners: new Map(listeners) })
    }
    return gates
  }

  private schedulesOf(system: System): Map<CoordinatorId, ScheduleConfig> {
    return new Map(
      [...system.schedules.values()].map((definition) => {
        const id = scheduleOf(this.ids, this.tenant, definition.name)
        return [id, { id, definition, session: this.sessionOf(definition.session) }]
      }),
    )
  }

  private queuesOf(system: System): Map<CoordinatorId, QueueConfig> {
    return new Map(
      [...system.queues.values()].map((definition) => {
        const id = this.queueOf(definition.name)
        return [id, { id, definition, session: this.sessionOf(queueSource(definition.name)) }]
      }),
    )
  }

  private queueOf(name: string): QueueId {
    return queueId(this.ids.digest(`queue\n${this.tenant}\n${name}`))
  }

  private sessionOf(name: string): SessionId {
    return namedSessionId(this.ids.digest(`session\n${this.tenant}\n${name}`))
  }
}

type Gated = FunctionDefinition & { readonly flow: FlowDefinition }

const hasGate = (definition: FunctionDefinition): definition is Gated => definition.flow?.isStateful === true

/** How many queries go to the store at once: thousands would wait for its connections until they time out. */
const PART = 100
/** How many coming slots are shown to people. */
const SHOWN_SLOTS = 5

const inParts = <Item>(items: readonly Item[]): readonly (readonly Item[])[] =>
  Array.from({ length: Math.ceil(items.length / PART) }, (_, i) => items.slice(i * PART, (i + 1) * PART))

const PAGE = 1_000

const lastSequence = async ({ ledger, tenant }: EngineContext, from: number): Promise<number> => {
  for (let after = from; ; ) {
    const page = await ledger.events({ tenant, after, limit: PAGE })
    after = page.at(-1)?.sequence ?? after
    if (page.length < PAGE) return after
  }
}
