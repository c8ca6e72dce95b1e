/**
 * The only entrance for events and calls: checks them, removes duplicates, and writes them with the runs they start.
 *
 * Owns admission. An answer means that the event is on disk; a repeat gets the first answer.
 *
 * intake-1  One event per (tenant, source, id), however late the repeat; other data under the same id is refused.
 * intake-2  An event and the runs it starts are one append: either all are there or none is.
 * intake-3  More callers than the ledger can serve wait here, up to a bound (waiting-room.ts), and are refused beyond it; what is accepted
 *           is never kept in memory alone.
 */
import { type NotStarted, queuedRun, trailOf } from '#engine/coordinators/flow-outcomes.ts'
import { type NewRun, newRun } from '#engine/run/new-run.ts'
import { leaseFor, resourceClaimOfCall, rootsOfInput } from '#engine/run/resource-claim.ts'
import { commitSpawned } from '#engine/run/spawned.ts'
import { requireOpen } from '#engine/step/internal.ts'
import type { Backlog } from '#engine/worker/vitals.ts'
import { type WaitingLimits, WaitingRoom } from '#engine/worker/waiting-room.ts'
import { isOwn as isOwnFunction } from '#manifest/define/builtin-functions.ts'
import { CALLBACK, checkCallback } from '#manifest/define/callback.ts'
import { hasCode } from '#manifest/define/system.ts'
import { checkAgainst } from '#manifest/schema/schema.ts'
import { durationMs } from '#manifest/time/duration.ts'
import { OWN, PERSON, PROGRAM, type Producer } from '#model/access/human-only.ts'
import { type Requesters, requestersOf } from '#model/access/requester.ts'
import { type Cause, type Event, isPlainId, isReservedSource, isReservedType } from '#model/event/event.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { LOCAL_TENANT, type RunId, runId, type TenantId } from '#model/kernel/ids.ts'
import { isJsonRecord, type Json, toJson } from '#model/kernel/json.ts'
import type { DocumentWrite, NewEvent, Outcome, Suppression } from '#ports/ledger.ts'
import { firstCause } from './cause.ts'
import type { EngineContext } from './engine-context.ts'
import { checkEvent, isSameEvent, laterRun, routeAll } from './events.ts'
import { writeInOrder } from './in-order.ts'
import type { IncomingEvent, InnerSendOptions, InnerStartOptions, Receipt, Rehearsal, SendOptions } from './incoming.ts'
import { storeValue } from './payloads.ts'
import { hasGate, matchTrigger } from './route.ts'
import { commitOnce } from './single-append.ts'

const DEFAULT_SOURCE = 'app'
const OWN_SOURCE = 'trihand'
/** Two batches of events alone, because each counts for three: more would only be routed earlier, and held in memory until its turn. */
const MAX_INSIDE = 256
/** For a program that embeds the engine: it may send a hundred thousand events in one turn of the event loop, and waits for them itself. */
const USUAL_LIMITS: WaitingLimits = { queue: 100_000, waitMs: 5_000 }

const NONE: readonly never[] = []
const NOTHING_MORE: Pick<Receipt, 'pending' | 'suppressed'> = { pending: NONE, suppressed: NONE }

/** Makes an event that begins a chain of causes. Every member is named, for the same reason as in `stored` (model/event/event.ts). */
const firstEvent = (
  event: Omit<Event, keyof Cause>,
  traceparent: string | null,
  { requesters }: Requesters = {},
): Event => ({
  id: event.id,
  tenant: event.tenant,
  source: event.source,
  type: event.type,
  subject: event.subject,
  time: event.time,
  data: event.data,
  correlationId: event.id,
  causationId: null,
  traceparent,
  hops: 0,
  chain: NONE,
  ...(requesters !== undefined && { requesters }),
})

/** The tenant comes from the credential alone: data may repeat it, and gets it where it is absent. The local tenant has no others beside it. */
const ownData = (data: Json, field: string | null, tenant: TenantId): Json => {
  if (field === null || tenant === LOCAL_TENANT || !isJsonRecord(data)) return data
  const named = data[field]
  if (named !== undefined && named !== null && named !== tenant)
    throw new TrihandError(
      'TENANT_MISMATCH',
      `${field} is ${JSON.stringify(named)}, but the sender belongs to ${tenant}`,
    )
  return { ...data, [field]: tenant }
}

const delayOf = ({ delay = 0 }: IncomingEvent): number => {
  try {
    return durationMs(delay)
  } catch (error) {
    if (error instanceof TrihandError) throw new TrihandError('EVENT_INVALID', `delay: ${error.detail}`)
    throw error
  }
}

const refusedLater = async (): Promise<never> => {
  throw new TrihandError('EVENT_INVALID', 'an event in a list cannot have a delay; send it alone')
}

export class Intake {
  private readonly context: EngineContext
  private readonly room: WaitingRoom

  constructor(context: EngineContext, limits: WaitingLimits = USUAL_LIMITS) {
    this.context = context
    this.room = new WaitingRoom(context.clock, MAX_INSIDE, limits)
  }

  /** Callers that wait for the ledger, and how long the first has waited. */
  get backlog(): Backlog {
    return { waiting: this.room.waiting, oldestMs: this.room.oldestMs }
  }

  async send(
    incoming: IncomingEvent,
    { documents = NONE, isOwn = false, idIsDigest = false, ...asked }: InnerSendOptions = {},
  ): Promise<Receipt> {
    const delayMs = delayOf(incoming)
    if (delayMs > 0) return this.sendLater(incoming, delayMs, asked)
    const producer = isOwn ? OWN : asked.by?.kind === 'user' ? PERSON : PROGRAM
    const event = await this.check(incoming, producer, requestersOf(asked))
    // An event with documents comes from a source. It waits and is never refused, because the source would find it again at once.
    return this.room.serve(() => this.persist(event, documents, idIsDigest), documents.length > 0)
  }

  /** The event is checked now. It is listed and withdrawn like an event that a run delays, and counts as sent by a program. */
  private async sendLater(incoming: IncomingEvent, delayMs: number, { asked, ...by }: SendOptions): Promise<Receipt> {
    const { context } = this
    for (const name of ['id', 'source', 'time'] as const)
      if (incoming[name] !== undefined)
        throw new TrihandError(
          'EVENT_INVALID',
          `an event with a delay cannot have its own ${name}: it gets one when it is sent`,
        )
    const behind = requestersOf(by)
    const { type, data, subject } = await this.check(incoming, PROGRAM, behind)
    const id = asked?.run ?? runId(context.ids.uuid())
    const dueAt = context.clock.now() + delayMs
    if (asked?.isRepeated !== true || !(await this.isKnown(id))) {
      const sender = { cause: firstCause(id, behind), session: null }
      const run = laterRun(context, sender, { type, data, subject }, { delayMs, id })
      await this.room.serve(() => this.commit([run], [], NONE))
    }
    return { id, sequence: 0, runs: NONE, ...NOTHING_MORE, duplicate: false, dueAt }
  }

  /** The ledger numbers the events in the order of the list (in-order.ts). Each gets its own result. */
  async sendInOrder(
    incoming: readonly IncomingEvent[],
    asked: SendOptions = {},
  ): Promise<readonly (Receipt | TrihandError)[]> {
    const producer = asked.by?.kind === 'user' ? PERSON : PROGRAM
    const behind = requestersOf(asked)
    const checked = incoming.map((one) =>
      (one.delay === undefined ? this.check(one, producer, behind) : refusedLater()).catch((error: unknown) => {
        if (error instanceof TrihandError) return error
        throw error
      }),
    )
    return writeInOrder(await Promise.all(checked), (events) => this.room.serve(() => this.persistAll(events)))
  }

  /** Checks and routes an event without writing it. */
  async rehearse(incoming: IncomingEvent): Promise<Rehearsal> {
    const system = this.context.system()
    // Nothing is sent, so any caller may see what a person's decision would start.
    const event = await this.check(incoming, isReservedType(incoming.type) ? OWN : null)
    const starts: string[] = []
    const suppressed: Suppression[] = []
    for (const listener of system.listeners.get(event.type) ?? []) {
      const { name } = listener.handler
      const verdict = matchTrigger(listener, event, system)
      if (verdict?.kind === 'start') starts.push(name)
      else if (verdict !== null) suppressed.push({ trigger: name, reason: verdict.reason, detail: verdict.detail })
    }
    return { starts, suppressed }
  }

  /** Writes documents without an event: a source has seen something that it does not send. */
  async note(documents: readonly DocumentWrite[]): Promise<void> {
    const { commit, appendId, redaction } = this.context
    const cleaned = documents.map((write) => ({ ...write, value: redaction.value(write.value) }))
    await commitOnce(commit, { appendId: appendId(), writes: [], events: [], signals: [], documents: cleaned })
  }

  /** Starts a function by name, without an event. If the function has a gate, the gate decides. */
  async start(name: string, input: unknown, options: InnerStartOptions = {}): Promise<RunId> {
    const { context } = this
    const { callbackUrl: callback, asked } = options
    if (asked?.isRepeated === true && (await this.isKnown(asked.run))) return asked.run
    if (callback !== undefined) checkCallback(context.system(), callback)
    const definition = context.system().functions.get(name)
    // A callback is signed by us, so it may only report what has happened: no caller may start one.
    if (definition === undefined || name === CALLBACK || (isOwnFunction(name) && options.isOwn !== true))
      throw new TrihandError('NOT_FOUND', `there is no function ${name}`)
    requireOpen(definition)
    if (!hasCode(definition)) throw new TrihandError('FUNCTION_NOT_IMPLEMENTED', `${name} has no code yet`)
    const { payload, value } = await storeValue(context, input)
    if (definition.input !== null) await checkAgainst(definition.input, value, 'INPUT_INVALID', `the input of ${name}`)
    const session = options.session ?? null
    const behind = requestersOf(options)
    const id = asked?.run ?? runId(context.ids.uuid())
    const given = { kind: 'given', payload } as const
    if (context.gates.gateFor(name) !== null) {
      const told = callback === undefined ? {} : { callback }
      const call = { run: id, input: given, session, by: null, ...told, ...behind }
      return this.room.serve(() => context.gates.call(name, { call, value }))
    }
    const subject = { tenant: context.tenant, session, roots: rootsOfInput(value) }
    const resourceClaim = resourceClaimOfCall(definition, subject)
    return this.room.serve(async () => {
      const run = newRun(context, {
        id,
        definition,
        systemHash: context.system().hash,
        tenant: context.tenant,
        now: context.clock.now(),
        input: given,
        cause: firstCause(id, behind),
        event: null,
        session,
        parent: null,
        resourceClaim,
        lease: leaseFor(resourceClaim, () => context.worker.reserve(name)),
        callback: callback ?? null,
      })
      const outcome = await this.commit([run], [], options.documents?.(run.id) ?? [])
      // A run whose id the caller has chosen was started by another attempt.
      if (outcome.kind === 'conflict' && asked === undefined)
        throw new TrihandError('INTERNAL', 'the id of a new run already exists')
      return run.id
    })
  }

  /** Emits an event of the system itself. A given id is emitted once: a second emitter is refused or gets `duplicate`. */
  tell(type: string, about: { readonly subject: string; readonly data: Json; readonly id?: string }): Promise<Receipt> {
    const { ids, clock, tenant } = this.context
    const id = about.id ?? `evt_${ids.uuid()}`
    const { subject, data } = about
    const event = firstEvent({ id, tenant, source: OWN_SOURCE, type, subject, time: clock.now(), data }, null)
    return this.room.serve(() => this.persist(event, NONE), true)
  }

  private async check(incoming: IncomingEvent, producer: Producer | null, requesters?: Requesters): Promise<Event> {
    const { context } = this
    const isOwn = producer === OWN
    const given = toJson(incoming.data ?? {})
    const data = isOwn ? given : ownData(given, context.system().tenantField, context.tenant)
    await checkEvent(context, incoming.type, data, producer)
    const id = incoming.id ?? `evt_${context.ids.uuid()}`
    const source = incoming.source ?? DEFAULT_SOURCE
    // human-only-3
    if (producer !== null && !isOwn && isReservedSource(source, incoming.id !== undefined))
      throw new TrihandError('EVENT_RESERVED', `the source ${source} is reserved for the system`)
    for (const [name, text] of Object.entries({ id, source, subject: incoming.subject ?? 'none' })) {
      if (!isPlainId(text))
        throw new TrihandError('EVENT_INVALID', `${name} must have 1 to 255 characters and no control characters`)
    }
    // An event that has arrived has happened: a sender whose clock is ahead must not delay the runs that wait for its event.
    const time = Math.min(incoming.time ?? Number.MAX_SAFE_INTEGER, context.clock.now())
    if (!Number.isSafeInteger(time)) throw new TrihandError('EVENT_INVALID', 'time must be an instant in milliseconds')
    const { type, subject = null, traceparent = null } = incoming
    return firstEvent({ id, tenant: context.tenant, source, type, subject, time, data }, traceparent, requesters)
  }

  private async persist(event: Event, documents: readonly DocumentWrite[], idIsDigest = false): Promise<Receipt> {
    const { context } = this
    const { events, runs } = routeAll(context, [event])
    const outcome = await this.commit(runs, events, documents)
    if (outcome.kind !== 'conflict') {
      const sequence = outcome.sequences[0] as number
      const none = events[0]?.suppressed ?? NONE
      return { id: event.id, sequence, runs: runs.map((run) => run.id), ...this.notYet(event, none), duplicate: false }
    }
    if (outcome.reason !== 'taken')
      throw new TrihandError('INTERNAL', 'an event got a conflict that only runs can have')
    if (!idIsDigest && !isSameEvent(context, event, outcome.dataHash))
      throw new TrihandError('EVENT_ID_REUSED', `event ${event.id} of ${event.source} exists with other data`)
    const { sequence } = outcome
    const { suppressed } = this.notYet(event, await context.suppressed(context.tenant, sequence))
    const trail = await trailOf(context, { ...event, sequence })
    const all = [
      ...suppressed,
      ...trail.suppressed.filter(({ trigger }) => !suppressed.some((one) => one.trigger === trigger)),
    ]
    return { id: event.id, sequence, runs: outcome.runs, pending: trail.pending, suppressed: all, duplicate: true }
  }

  /** Null: one of several is known already, and nothing was written. A single known event is answered like any repeat. */
  private async persistAll(events: readonly Event[]): Promise<readonly Receipt[] | null> {
    const [first] = events
    if (first !== undefined && events.length === 1) return [await this.persist(first, NONE)]
    const routed = routeAll(this.context, events)
    const outcome = await this.commit(routed.runs, routed.events, NONE)
    if (outcome.kind === 'conflict') return null
    return events.map((event, index) => ({
      id: event.id,
      sequence: outcome.sequences[index] as number,
      runs: routed.runs.filter(({ write }) => write.create?.event === index).map(({ id }) => id),
      ...this.notYet(event, routed.events[index]?.suppressed ?? NONE),
      duplicate: false,
    }))
  }

  /** Whether the run exists, or its id was given out by a gate. */
  private async isKnown(run: RunId): Promise<boolean> {
    const [record] = await this.context.ledger.load([run], { after: Number.MAX_SAFE_INTEGER })
    return record != null || (await queuedRun(this.context, run)) !== null
  }

  /** Handlers with a gate decide after this answer; what a filter rejects is known now. */
  private notYet(event: Event, written: readonly Suppression[]): Pick<Receipt, 'pending' | 'suppressed'> {
    const { context } = this
    const system = context.system()
    const listeners = system.listeners.get(event.type) ?? NONE
    if (written.length === 0 && !listeners.some(hasGate)) return NOTHING_MORE
    const suppressed: NotStarted[] = written.map((one) => ({ ...one, run: null }))
    const pending: string[] = []
    for (const listener of listeners) {
      if (!hasGate(listener)) continue
      const { name } = listener.handler
      const verdict = matchTrigger(listener, event, system)
      if (verdict?.kind === 'start') pending.push(name)
      else if (verdict !== null)
        suppressed.push({ trigger: name, reason: verdict.reason, detail: verdict.detail, run: null })
    }
    return { pending, suppressed }
  }

  private commit(
    runs: readonly NewRun[],
    events: readonly NewEvent[],
    documents: readonly DocumentWrite[],
  ): Promise<Outcome> {
    const writes = runs.map((run) => run.write)
    return commitSpawned(this.context, { writes, events, signals: [], documents }, runs)
  }
}
