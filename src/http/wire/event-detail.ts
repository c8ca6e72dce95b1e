/**
 * One event with its causes and effects: back to what began the chain, and forward to the runs it started and the events they sent.
 *
 * Owns both walks and their limits. Only reads, through the Reader; the events that a waiting run received are in that run's own facts.
 */
import type { EventCause, EventDetail } from '#http/openapi/api.ts'
import type { Service } from '#http/server/service.ts'
import { isPlainId, type StoredEvent } from '#model/event/event.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import { isRunId, isTaskId, type RunId } from '#model/kernel/ids.ts'
import type { RunSummary } from '#ports/reader.ts'
import { eventDocument, runDocument } from './wire.ts'

type Asked = Pick<Service, 'reader' | 'tenant'>
type Trailed = Asked & Pick<Service, 'trail'>

/** A cause, and the reference to its own cause. */
interface Found {
  readonly cause: EventCause
  readonly next: string | number | null
}

const MOST_CAUSES = 64
const MOST_RUNS = 50
const MOST_FACTS = 1_000
const MOST_EVENTS = 100
const SEQUENCE = /^[1-9]\d{0,14}$/

export const eventBySequence = async ({ reader, tenant }: Asked, sequence: number): Promise<StoredEvent | null> => {
  const [event] = await reader.events({ tenant, type: null, before: sequence + 1, limit: 1 })
  return event?.sequence === sequence ? event : null
}

/** Finds an event by its sequence, or by its id and, where several sources have used it, its source. */
export const findEvent = async (asked: Asked, text: string, source: string | null): Promise<StoredEvent> => {
  const numbered = SEQUENCE.test(text) ? await eventBySequence(asked, Number(text)) : null
  if (numbered !== null && source === null) return numbered
  // An id that no event can have is never passed to a store.
  const all = isPlainId(text) ? await asked.reader.eventsWithId(asked.tenant, text) : []
  const [event, another] = all.filter((one) => source === null || one.source === source)
  if (event === undefined) throw new TrihandError('NOT_FOUND', `there is no event ${text}`)
  if (another !== undefined) {
    const sources = all.map((one) => one.source).join(', ')
    throw new TrihandError('ID_AMBIGUOUS', `several sources have an event ${text}: ${sources}; add ?source=`)
  }
  return event
}

const ofEvent = ({ id, type, sequence, causationId }: StoredEvent): Found => ({
  cause: { kind: 'event', id, name: type, sequence },
  next: causationId,
})

const ofRun = async ({ reader, tenant }: Asked, id: RunId): Promise<Found | null> => {
  const run = await reader.run(tenant, id)
  if (run === null) return null
  return { cause: { kind: 'run', id, name: run.handler, sequence: null }, next: run.event ?? run.parent }
}

const lookUp = async (asked: Asked, next: string | number): Promise<Found | null> => {
  const { reader, tenant } = asked
  if (typeof next === 'number') {
    const event = await eventBySequence(asked, next)
    return event === null ? null : ofEvent(event)
  }
  if (isRunId(next)) return ofRun(asked, next)
  if (next.startsWith('sch_')) return { cause: { kind: 'schedule', id: next, name: next, sequence: null }, next: null }
  if (isTaskId(next)) {
    const task = await reader.task(tenant, next)
    return task === null
      ? null
      : { cause: { kind: 'task', id: next, name: task.title, sequence: null }, next: task.run }
  }
  const [event] = await reader.eventsWithId(tenant, next)
  return event === undefined ? null : ofEvent(event)
}

const causesOf = async (asked: Asked, event: StoredEvent): Promise<readonly EventCause[]> => {
  const causes: EventCause[] = []
  for (let next = ofEvent(event).next; next !== null && causes.length < MOST_CAUSES; ) {
    const found: Found | null = await lookUp(asked, next)
    if (found === null) return causes
    causes.push(found.cause)
    next = found.next
  }
  return causes
}

const sentBy = async ({ reader, tenant }: Asked, { id }: RunSummary): Promise<readonly string[]> => {
  const facts = await reader.facts(tenant, id, { after: 0, limit: MOST_FACTS })
  return facts.map(readRunFact).flatMap((fact) => ('events' in fact ? (fact.events ?? []) : []))
}

export const eventDetail = async (asked: Trailed, event: StoredEvent): Promise<EventDetail> => {
  const { reader, tenant } = asked
  const [causes, runs, suppressed, trail] = await Promise.all([
    causesOf(asked, event),
    reader.startedBy(tenant, event.sequence, MOST_RUNS),
    reader.suppressed(tenant, event.sequence),
    asked.trail(event),
  ])
  const sent = (await Promise.all(runs.map((run) => sentBy(asked, run)))).flat().slice(0, MOST_EVENTS)
  const events = (await Promise.all(sent.map((id) => reader.eventsWithId(tenant, id)))).flat()
  return {
    event: eventDocument(event),
    causes: [...causes],
    runs: runs.map(runDocument),
    events: events.map(eventDocument),
    pending: [...trail.pending],
    suppressed: [...suppressed.map((one) => ({ ...one, run: null })), ...trail.suppressed],
  }
}
