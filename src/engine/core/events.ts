/**
 * Prepares the events that a run sends for the run's own append: gives them ids and causes, checks them and routes them.
 *
 * Owns how an intent becomes an event with the runs it starts. They are written with the fact that carries them, or not at all.
 */
import { isLeased, type NewRun, newRun } from '#engine/run/new-run.ts'
import { NO_RESOURCE_CLAIM } from '#engine/run/resource-claim.ts'
import { requireEvent } from '#engine/step/permissions.ts'
import { laterFunction } from '#manifest/define/delayed-event.ts'
import type { FunctionDefinition } from '#manifest/define/system.ts'
import { checkAgainst } from '#manifest/schema/schema.ts'
import { forbidProducer, OWN, PROGRAM, type Producer } from '#model/access/human-only.ts'
import { type Cause, type Event, isEventType, isReservedType } from '#model/event/event.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { RunId, SessionId } from '#model/kernel/ids.ts'
import { canonical } from '#model/kernel/json.ts'
import { nearest } from '#model/kernel/nearest.ts'
import { EVENT_SUBJECT } from '#model/kernel/row-key.ts'
import type { NewEvent } from '#ports/ledger.ts'
import type { EmittedEvent } from '#ports/step-port.ts'
import type { EngineContext } from './engine-context.ts'
import { route } from './route.ts'
import { requireKey } from './row-key.ts'

const MAX_EVENT_BYTES = 256 * 1024
const MAX_FAN_OUT = 1_000
/** How many names a refusal lists. */
const MOST_NAMED = 8

/** Refuses an event with a bad name, too much data, no declaration, data that does not fit, or a forbidden producer. Null: it is not sent. */
export const checkEvent = async (
  context: Pick<EngineContext, 'system'>,
  type: string,
  data: Event['data'],
  producer: Producer | null,
): Promise<void> => {
  const isOwn = producer === OWN
  if (!isEventType(type)) throw new TrihandError('EVENT_INVALID', `"${type}" is not an event type`)
  if (isReservedType(type) && !isOwn) throw new TrihandError('EVENT_RESERVED', `only the system sends ${type}`)
  const system = context.system()
  const definition = system.events.get(type)
  if (definition === undefined && !system.open && !isOwn)
    throw new TrihandError('EVENT_UNKNOWN', unknownEvent(type, [...system.events.keys()]))
  const forbidden = producer === null ? null : forbidProducer(type, definition?.only ?? null, producer)
  if (forbidden !== null) throw new TrihandError(forbidden.code, forbidden.detail)
  const size = JSON.stringify(data).length
  if (size > MAX_EVENT_BYTES)
    throw new TrihandError(
      'EVENT_TOO_LARGE',
      `${type} has ${size} characters of data; at most ${MAX_EVENT_BYTES} are allowed`,
    )
  if (definition?.schema != null) await checkAgainst(definition.schema, data, 'EVENT_INVALID', `event ${type}`)
}

const unknownEvent = (type: string, known: readonly string[]): string => {
  const near = nearest(type, known)
  if (near !== null) return `the event ${type} is not declared; did you mean ${near}?`
  const more = known.length > MOST_NAMED ? `, and ${known.length - MOST_NAMED} more` : ''
  const named = known.length === 0 ? '' : `; declared events: ${known.slice(0, MOST_NAMED).join(', ')}${more}`
  return `the event ${type} is not declared${named}`
}

export interface Outgoing {
  readonly events: readonly NewEvent[]
  readonly runs: readonly NewRun[]
}

/** Prepares an event for the ledger: without secrets, and with the hash of its data. */
export const newEvent = (
  { ids, redaction }: Pick<EngineContext, 'ids' | 'redaction'>,
  event: Event,
  suppressed: NewEvent['suppressed'],
): NewEvent => {
  const text = canonical(event.data)
  const data = redaction.value(event.data, text)
  if (data === event.data) return { event, dataHash: ids.sealEvent(event, text), suppressed }
  return { event: { ...event, data }, dataHash: ids.sealEvent(event, canonical(data)), suppressed }
}

/** Whether a repeat of an event has the data that the ledger has. */
export const isSameEvent = (
  { ids, redaction }: Pick<EngineContext, 'ids' | 'redaction'>,
  event: Event,
  known: string,
): boolean => ids.checkEventSeal(known, event, canonical(redaction.value(event.data))) === 'fits'

/** Routes events: returns them with the runs that they start, each pointing at its event's place in the append. */
export const routeAll = (context: EngineContext, events: readonly Event[]): Outgoing => {
  const place = {
    system: context.system(),
    ids: context.ids,
    redaction: context.redaction,
    tenant: context.tenant,
    now: context.clock.now(),
    reserve: (handler: string) => context.worker.reserve(handler),
  }
  const routed = events.map((event, index) => ({ event, ...route(place, event, index) }))
  const runs = routed.flatMap((one) => one.runs)
  const crowd = routed.find((one) => one.runs.length > MAX_FAN_OUT)
  if (crowd !== undefined) {
    for (const _ of runs.filter(isLeased)) context.worker.unreserve()
    throw new TrihandError('FAN_OUT_LIMIT', `${crowd.event.type} would start ${crowd.runs.length} runs`)
  }
  const told = routed.map(({ event, suppressed }) => newEvent(context, event, suppressed))
  return { events: told, runs }
}

/** The run that sends, and the definition of its handler, which says what it may send. */
export interface Sender {
  readonly run: RunId
  readonly cause: Cause
  readonly definition: FunctionDefinition | undefined
  readonly session: SessionId | null
}

/** Checks events before they are recorded, so that a bad one fails the step that sends it. A delayed event becomes a run that sends it. */
export const emittedBy = async (
  context: EngineContext,
  sender: Sender,
  intents: readonly EmittedEvent[],
): Promise<Outgoing> => {
  const events: Event[] = []
  const later: NewRun[] = []
  for (const intent of intents) {
    const { delayMs = 0 } = intent
    requireEvent(sender.definition, intent.type, delayMs > 0)
    await checkEvent(context, intent.type, intent.data, PROGRAM)
    if (intent.subject !== null) requireKey(EVENT_SUBJECT, intent.subject, 'EVENT_INVALID')
    if (delayMs > 0) later.push(laterRun(context, sender, intent, { delayMs }))
    else events.push(eventOf(context, sender, intent))
  }
  const routed = routeAll(context, events)
  return { events: routed.events, runs: [...routed.runs, ...later] }
}

const eventOf = (context: EngineContext, { cause }: Sender, { type, subject, data }: EmittedEvent): Event => ({
  id: `evt_${context.ids.uuid()}`,
  tenant: context.tenant,
  source: 'trihand',
  type,
  subject,
  time: context.clock.now(),
  data,
  ...cause,
})

/** Makes the run that sends an event when its time has come. */
export const laterRun = (
  context: Pick<EngineContext, 'ids' | 'redaction' | 'system' | 'clock' | 'tenant'>,
  { cause, session }: { readonly cause: Cause | null; readonly session: SessionId | null },
  { type, data, subject }: EmittedEvent,
  { delayMs, id }: { readonly delayMs: number; readonly id?: RunId },
): NewRun => {
  const now = context.clock.now()
  return newRun(context, {
    ...(id !== undefined && { id }),
    definition: laterFunction,
    systemHash: context.system().hash,
    tenant: context.tenant,
    now,
    input: { kind: 'given', payload: { value: { type, data, subject } } },
    cause,
    event: null,
    session,
    parent: null,
    notBefore: now + delayMs,
    resourceClaim: NO_RESOURCE_CLAIM,
    lease: null,
  })
}
