/**
 * The coordinator logic of a gate: reads the events of its handler's triggers, starts runs or records why it starts none.
 *
 * Owns the reading of events and the ends of runs, the evaluation of filters and keys, and the creation of started runs.
 * The model decides which event starts a run, and when (model/flow/gate.ts).
 */
import { type Advance, advanceGate, CommandSequence } from '#engine/core/advance.ts'
import { firstCause } from '#engine/core/cause.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import { fetchValue } from '#engine/core/payloads.ts'
import { eventRoot, matchTrigger, requireFor } from '#engine/core/route.ts'
import type { Roots } from '#engine/core/rule-values.ts'
import { callbackOf } from '#engine/run/ending.ts'
import type { ExternalWrite } from '#engine/run/external-command.ts'
import { type Birth, type NewRun, newRun } from '#engine/run/new-run.ts'
import { leaseFor, NO_RESOURCE_CLAIM, resourceClaimOfDecided, rootsOfInput } from '#engine/run/resource-claim.ts'
import type { FlowDefinition } from '#manifest/flow/flow.ts'
import { requestersIn } from '#model/access/requester.ts'
import type { Arrival, Call } from '#model/event/arrival.ts'
import type { StoredEvent } from '#model/event/event.ts'
import { brokenPromises } from '#model/flow/flow-outcome.ts'
import { gate } from '#model/flow/gate.ts'
import type {
  GateCommand,
  GateFact,
  GateState,
  ListenedType,
  OpenGate,
  RefusedEvent,
  Ruled,
} from '#model/flow/gate-fact.ts'
import { followedOnly } from '#model/flow/gate-follow.ts'
import { gateWakeAt, resumeGateFrom, sharedTurns, waiterOf, wantedCancels } from '#model/flow/gate-read.ts'
import { recordTurn, type ThrottleState } from '#model/flow/policies/throttle.ts'
import { entriesOf, valueAt } from '#model/kernel/due-map.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { readGateFact } from '#model/kernel/fact-codec.ts'
import type { GateId, Instant, RunId, StreamId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { fold } from '#model/kernel/machine.ts'
import type { DocumentWrite, SealedFact, StreamRecord } from '#ports/ledger.ts'
import { arrivalOf } from './arrivals.ts'
import type { Checkpoint, CoordinatorLogic, Found, Look, Spawned } from './coordinator-logic.ts'
import { endedRuns } from './ended-runs.ts'
import { withFailedItems } from './failed-items.ts'
import { outcomeDocuments } from './flow-outcomes.ts'
import { causeIn, familyOf, type GateConfig, runOfEvent } from './gate-config.ts'
import { refusalOf } from './gate-refusal.ts'
import { revivalsOf, withRevivals } from './gate-revival.ts'
import { KeptClaims } from './kept-claims.ts'
import { PendingCancels } from './pending-cancels.ts'
import { type Budget, budgetWrite, lookAtShared, takenOf } from './shared-budget.ts'
import { startPlaces } from './starts.ts'

/** Maximum number of events in one decision: it bounds the size of an append. */
const PAGE = 256

type Started = Extract<GateFact, { readonly type: 'gate.started' }>

type About = Pick<Birth, 'input' | 'event' | 'session' | 'coordinator'> &
  Partial<Pick<Birth, 'cause' | 'callback' | 'parent'>>

/** True if the call was made in the same decision. */
const isNew = (facts: readonly GateFact[], { events }: Started): boolean =>
  facts.some((fact) => fact.type === 'gate.asked' && -fact.number === events[0])

const trackedRuns = (gate: OpenGate): readonly RunId[] => [
  ...entriesOf(gate.runs).map(([run]) => run as RunId),
  ...followedOnly(gate),
]

const isHeard = ({ type, after, until }: ListenedType, event: StoredEvent): boolean =>
  type === event.type && event.sequence > after && (until === null || event.sequence <= until)

export class GateCoordinator implements CoordinatorLogic<GateState, GateFact> {
  private readonly context: EngineContext
  private readonly config: GateConfig
  /** The ledger's position when the gate was created: it ignores earlier events. */
  private base = 0
  private readonly events = new Map<number, StoredEvent>()
  private readonly pendingCancels: PendingCancels
  /** Runs of calls that wait here although the run already exists. */
  private readonly begun = new Set<RunId>()
  /** The shared budget of its throttle as of the start of the decision, and the turns taken including those of the decision. */
  private budget: Budget | null = null
  private taken: ThrottleState = []
  /** Writes of retried runs that continue with the decision under way. */
  private revived: readonly ExternalWrite[] = []
  private readonly kept: KeptClaims

  constructor(context: EngineContext, config: GateConfig) {
    this.context = context
    this.config = config
    this.pendingCancels = new PendingCancels(context, 'a newer event replaces it')
    this.kept = new KeptClaims(context, config.id)
  }

  restore(record: StreamRecord): GateState | null {
    this.base = record.base
    return resumeGateFrom(record.facts.map(readGateFact))
  }

  resumed(state: GateState): void {
    for (const { run } of wantedCancels(state)) this.pendingCancels.tell(run)
  }

  follow(state: GateState, facts: readonly SealedFact[]): GateState {
    return fold(gate, facts.map(readGateFact), state)
  }

  async find(before: GateState, now: () => Instant, look: Look): Promise<Found<GateState, GateFact>> {
    if (before.kind !== 'open') return { facts: [], state: before, more: false }
    await this.prepare()
    const tracked = look === 'none' ? [] : trackedRuns(before)
    const unknown = look === 'elsewhere' ? tracked.filter((run) => !this.context.worker.isAtWork(run)) : tracked
    const heads = await endedRuns(this.context.ledger, unknown)
    const triggerOf = (run: RunId): string | null => valueAt(before.runs, run)?.trigger ?? null
    const ended = await withFailedItems(this.context, this.config.flow, { ended: heads, triggerOf })
    const page = await this.read(before)
    const arrivals = this.arrivals(page, before.types)
    const known = await this.recall(
      before,
      arrivals.arrivals.map(({ idempotencyKey }) => idempotencyKey),
    )
    const rules = { ...this.ruled(before.held, page), now: now() }
    const turn = new CommandSequence<GateState, GateCommand, GateFact>(known, (state, command) =>
      this.advance(state, command),
    )
    for (const run of this.begun) turn.ask({ type: 'forget_call', now: rules.now, run })
    if (ended.length > 0) turn.ask({ type: 'end_runs', ended, ...rules })
    if (page.length > 0) turn.ask({ type: 'arrive', ...arrivals, ...rules })
    turn.ask({ type: 'pass_time', ...rules })
    const { facts, state } = turn
    return { facts, state, more: page.length === PAGE, leftOut: unknown.length < tracked.length }
  }

  /** Reads what a decision needs in addition to the gate's own state. */
  async prepare(): Promise<void> {
    const { throttle } = this.config.flow.policies
    if (throttle?.shared === undefined) return
    this.budget = await lookAtShared(this.context, throttle.shared)
    this.taken = takenOf(this.budget)
  }

  /** Decides with what is left of the shared budget, and counts the turns that the decision takes. */
  advance(state: GateState, command: GateCommand): Advance<GateState, GateFact> {
    const advance = advanceGate(state, 'policies' in command ? { ...command, shared: this.taken } : command)
    for (const turn of sharedTurns(advance.facts)) this.taken = recordTurn(this.taken, turn, command.now)
    return advance
  }

  async spawned(facts: readonly GateFact[]): Promise<Spawned> {
    const started = facts.filter((fact) => fact.type === 'gate.started')
    const called = started.flatMap((fact) =>
      fact.call === undefined || fact.call.retry !== undefined ? [] : [{ fact, call: fact.call }],
    )
    const byEvent = started.filter(({ call }) => call === undefined)
    await this.fetch(byEvent.flatMap(({ events }) => events))
    // Looked up before a slot is reserved: a started run that cannot be created must not be written as if it existed.
    const triggers = byEvent.map(({ events }) => this.triggerOf(events))
    const values = await Promise.all(called.map(({ call }) => this.valueOf(call)))
    const away = facts.flatMap((fact) => (fact.type === 'trigger.suppressed' ? this.evict(fact) : []))
    const runs = [
      ...byEvent.map((fact, i) => this.bear(fact, triggers[i] as StoredEvent)),
      ...called.map(({ fact, call }, i) => this.bearCalled(fact, call, values[i] ?? null, isNew(facts, fact))),
      ...away,
    ]
    const turns = sharedTurns(facts)
    const writes = this.budget === null || turns.length === 0 ? [] : [budgetWrite(this.context, this.budget, turns)]
    const documents = await this.documents(facts)
    const told = facts.flatMap((fact) => (fact.type === 'gate.unfollowed' ? fact.by : []))
    // A child that waited is woken to check if its parent has ended in the meantime (parent-end-1).
    const late = called.flatMap(({ fact, call }) => (call.parent !== undefined && !isNew(facts, fact) ? call.run : []))
    const signals = [...away.flatMap(({ parent }) => parent ?? []), ...told, ...late]
    this.revived = await revivalsOf(this.context, facts)
    return withRevivals({ runs, events: [], writes, signals, documents }, this.revived)
  }

  /** gate-7: the run of a waiting call already exists. */
  exists(state: GateState, run: StreamId): boolean {
    const isWaiting = state.kind === 'open' && waiterOf(state, ({ call }) => call?.run === run) !== null
    if (isWaiting) this.begun.add(run as RunId)
    return isWaiting
  }

  written(facts: readonly GateFact[]): void {
    this.events.clear()
    this.begun.clear()
    for (const { notice } of this.revived) this.context.publish.tell(notice)
    this.context.worker.signal(this.revived.map(({ notice }) => notice.run))
    this.revived = []
    for (const fact of facts) if (fact.type === 'gate.cancel_wanted') this.pendingCancels.tell(fact.run)
  }

  told(): Promise<void> {
    return this.pendingCancels.told()
  }

  async checkpoint(before: GateState): Promise<Checkpoint<GateState, GateFact>> {
    const now = this.context.clock.now()
    const state = before as OpenGate
    const checkpoint = { type: 'gate.checkpointed', at: now, state } as const
    const kept = await this.kept.keep(state, now)
    if (kept === null) return { facts: [checkpoint], state, documents: [] }
    return { facts: [checkpoint, kept.fact], state: gate.evolve(state, kept.fact), documents: kept.documents }
  }

  /** Returns the state with the kept claims of these keys, which decisions about them need. */
  recall(state: GateState, keys: readonly (string | null)[]): Promise<GateState> {
    const named = keys.flatMap((key) => key ?? [])
    return this.kept.recall(state, named, this.context.clock.now())
  }

  wakeAt(state: GateState): Instant | null {
    return gateWakeAt(state)
  }

  // -- reading --------------------------------------------------------------------------------------------------------

  private async read({ cursor, types: heard }: OpenGate): Promise<readonly StoredEvent[]> {
    const types = heard.flatMap(({ type, until }) => (until === null || until > cursor ? [type] : []))
    if (types.length === 0) return []
    const { ledger, tenant } = this.context
    const after = Math.max(cursor, this.base)
    const page = await ledger.events({ tenant, types, after, settled: true, limit: PAGE })
    for (const event of page) this.events.set(event.sequence, event)
    return page
  }

  private async fetch(sequences: readonly number[]): Promise<void> {
    const missing = sequences.filter((sequence) => !this.events.has(sequence))
    if (missing.length === 0) return
    const { ledger, tenant } = this.context
    const found = await ledger.events({ tenant, sequences: missing, limit: missing.length })
    for (const event of found) this.events.set(event.sequence, event)
  }

  private arrivals(
    page: readonly StoredEvent[],
    heard: OpenGate['types'],
  ): Pick<GateCommand & { type: 'arrive' }, 'arrivals' | 'refused' | 'cursor'> {
    const arrivals: Arrival[] = []
    const refused: RefusedEvent[] = []
    for (const event of page) {
      if (!heard.some((one) => isHeard(one, event))) continue
      const found = this.admit(event, this.config.flow)
      if (found === null) continue
      if ('reason' in found) refused.push(found)
      else arrivals.push(found)
    }
    return { arrivals, refused, cursor: page.at(-1)?.sequence ?? 0 }
  }

  /** Null: the handler does not listen to this event. */
  private admit(event: StoredEvent, flow: FlowDefinition): Arrival | RefusedEvent | null {
    const listener = this.config.listeners.get(event.type)
    // The trigger no longer exists, but the event came while it did.
    if (listener === undefined) return arrivalOf(event, flow, null)
    const verdict = matchTrigger(listener, event, this.context.system())
    if (verdict === null) return null
    const { sequence } = event
    if (verdict.kind !== 'start') return { sequence, reason: verdict.reason, detail: verdict.detail }
    const found = requireFor(this.context, listener, event)
    if ('reason' in found) return { sequence, reason: found.reason, detail: found.detail }
    return arrivalOf(event, flow, verdict.trigger)
  }

  /** The same for commands without new events. */
  ruledFor(state: GateState): ReturnType<GateCoordinator['ruled']> {
    return this.ruled(state.kind === 'open' ? state.held : [], [])
  }

  /** Data that every command needs. The event that starts a run determines the run's id; the event's time determines its place in the order. */
  private ruled(
    held: OpenGate['held'],
    page: readonly StoredEvent[],
  ): Pick<Ruled, 'policies' | 'ofTriggers' | 'runOf'> {
    const times = new Map(held.map(({ arrival }) => [arrival.sequence, arrival.time]))
    for (const { sequence, time } of page) times.set(sequence, time)
    const { ids } = this.context
    const { id, flow } = this.config
    return {
      policies: flow.policies,
      ofTriggers: new Map([...flow.ofTriggers].map(([name, { policies }]) => [name, policies])),
      runOf: (sequence) => runOfEvent(ids, id, { sequence, time: times.get(sequence) ?? 0 }),
    }
  }

  /** Documents in which callers and senders look up this decision (model/flow/flow-outcome.ts). */
  private async documents(facts: readonly GateFact[]): Promise<readonly DocumentWrite[]> {
    const broken = brokenPromises(facts)
    await this.fetch(broken.map(({ sequence }) => sequence))
    const dropped = broken.map((fact) => ({
      run: fact.promised ?? this.runOf(fact.sequence),
      refusal: refusalOf(fact),
    }))
    const { tenant } = this.context
    const outcomes = outcomeDocuments(tenant, this.config.definition.name, { facts, dropped })
    return [...outcomes, ...startPlaces(tenant, facts), ...this.kept.overridden(facts)]
  }

  private runOf(sequence: number): RunId {
    return runOfEvent(this.context.ids, this.config.id, { sequence, time: this.events.get(sequence)?.time ?? 0 })
  }

  // -- what facts ask for ---------------------------------------------------------------------------------------------

  /** Returns the event that represents the run in the chain of causes: the last of several. */
  private triggerOf(sequences: readonly number[]): StoredEvent {
    const sequence = sequences.at(-1) ?? 0
    const event = this.events.get(sequence)
    if (event === undefined)
      throw new TrihandError('LEDGER_CORRUPT', `event ${sequence} of ${this.config.id} does not exist`)
    return event
  }

  private bear(fact: Started, last: StoredEvent): NewRun {
    const roots = { event: eventRoot(last), payload: last.data }
    const input =
      fact.how === 'event' ? ({ kind: 'event' } as const) : ({ kind: 'events', sequences: fact.events } as const)
    // Several events may come from several people: each of them is a requester of the run.
    const asked = requestersIn([...fact.events.flatMap((sequence) => this.events.get(sequence) ?? []), last])
    const cause = asked.requesters === undefined ? {} : { cause: causeIn(last, asked) }
    const about = { input, session: null, coordinator: this.tracker(fact), ...cause }
    // An event triggers at most one run of a handler: a repeated batch has the same cause, and its events only in its input.
    return fact.attempt === undefined
      ? this.begin(fact, roots, { ...about, event: { event: last } })
      : this.begin(fact, roots, { ...about, event: null, cause: causeIn(last, asked) })
  }

  private bearCalled(fact: Started, call: Call, value: Json, begins: boolean): NewRun {
    const { input, session, by, callback = null } = call
    const cause = firstCause(fact.run, call)
    const coordinator = by ?? this.tracker(fact)
    return this.begin(
      fact,
      rootsOfInput(value),
      { input, event: null, session, coordinator, callback, cause, ...familyOf(call) },
      begins || call.parent === undefined,
    )
  }

  private tracker({ tracked }: Started): GateId | null {
    return tracked ? this.config.id : null
  }

  private begin(fact: Started, roots: Roots, about: About, mayBegin = true): NewRun {
    const { context, config } = this
    const { name } = config.definition
    const subject = { tenant: context.tenant, session: about.session, roots }
    const resourceClaim = resourceClaimOfDecided(config.definition, subject, fact.priority)
    const reserve = () => (fact.notBefore === null && mayBegin ? context.worker.reserve(name) : null)
    const { run: id, notBefore } = fact
    return newRun(context, {
      ...this.birth(),
      ...about,
      id,
      notBefore,
      resourceClaim,
      lease: leaseFor(resourceClaim, reserve),
    })
  }

  /** A refused call by name becomes a run that ends as it begins, with the reason. */
  private evict(fact: Extract<GateFact, { readonly type: 'trigger.suppressed' }>): readonly NewRun[] {
    const { call, into } = fact
    // The last condition is gate-7: its run exists.
    if (call === undefined || call.retry !== undefined || into === call.run) return []
    const { run: id, input, session, by: coordinator, callback = null } = call
    const family = familyOf(call)
    const about = {
      id,
      input,
      event: null,
      session,
      coordinator,
      callback,
      resourceClaim: NO_RESOURCE_CLAIM,
      lease: null,
      ...family,
    }
    const away = newRun(this.context, { ...this.birth(), ...about, ends: refusalOf(fact) })
    const told = callbackOf(this.context, away, away.state)
    return told === null ? [away] : [away, told]
  }

  private birth(): Pick<Birth, 'definition' | 'systemHash' | 'tenant' | 'now' | 'cause' | 'parent'> {
    const { context, config } = this
    const { definition } = config
    const [systemHash, now] = [context.system().hash, context.clock.now()]
    return { definition, systemHash, tenant: context.tenant, now, cause: null, parent: null }
  }

  /** The call's input as the rules see it. */
  private valueOf({ input }: Call): Promise<Json> {
    return 'payload' in input ? fetchValue(this.context, input.payload) : Promise.resolve(null)
  }
}
