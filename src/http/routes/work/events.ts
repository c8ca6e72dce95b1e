/**
 * Routes for events: send in the short form or as CloudEvents, list newest first, show with causes and effects.
 *
 * Owns the parsing of an incoming event. Its admission is decided by the engine, not here.
 */
import type { Context } from 'hono'
import type { Receipt as EngineReceipt, IncomingEvent } from '#engine/core/incoming.ts'
import { askedBy, callerName } from '#http/access/identity.ts'
import { SEND_EVENT } from '#http/documents/events.ts'
import type { Receipt } from '#http/openapi/api.ts'
import { anything, described, list as listOf, PAGING, page, record, ref, text } from '#http/openapi/schema.ts'
import { type Handle, json, type Operation } from '#http/routes/route.ts'
import { type Members, optionalText, readBody, textOf } from '#http/server/body.ts'
import { problemOf } from '#http/server/problem.ts'
import { limitOf, pageOf, positionOf } from '#http/server/query.ts'
import { askedRun, isSecondAttempt, uuidOfWork } from '#http/server/work.ts'
import { BATCH, cloudEvents, modeOf, STRUCTURED } from '#http/wire/cloud-events.ts'
import { eventDetail, findEvent } from '#http/wire/event-detail.ts'
import { isoTime, parseIsoTime } from '#http/wire/time.ts'
import { eventDocument } from '#http/wire/wire.ts'
import { TrihandError } from '#model/kernel/errors.ts'

const CODE = 'EVENT_INVALID'

const timeOf = (members: Members): number | undefined => {
  const text = optionalText(members, 'time', CODE)
  if (text === undefined) return undefined
  const time = parseIsoTime(text)
  if (time === null)
    throw new TrihandError(CODE, `time is "${text}"; expected an instant with its offset, like 2026-01-31T09:00:00Z`)
  return time
}

/** A delayed event gets its default id and source when it is sent. */
const delayed = (members: Members, delay: string): IncomingEvent => {
  const subject = optionalText(members, 'subject', CODE)
  const named = ['id', 'source'].flatMap((name) => {
    const text = optionalText(members, name, CODE)
    return text === undefined ? [] : [[name, text]]
  })
  const time = timeOf(members)
  return {
    type: textOf(members, 'type', CODE),
    data: members['data'] ?? {},
    delay,
    ...Object.fromEntries(named),
    ...(subject === undefined ? {} : { subject }),
    ...(time === undefined ? {} : { time }),
  }
}

const incoming = (context: Context, members: Members): IncomingEvent => {
  const delay = optionalText(members, 'delay', CODE)
  if (delay !== undefined) return delayed(members, delay)
  const id = optionalText(members, 'id', CODE) ?? idOfWork(context)
  const subject = optionalText(members, 'subject', CODE)
  const time = timeOf(members)
  return {
    type: textOf(members, 'type', CODE),
    data: members['data'] ?? {},
    source: optionalText(members, 'source', CODE) ?? `/api/${callerName(context)}`,
    ...(id === undefined ? {} : { id }),
    ...(subject === undefined ? {} : { subject }),
    ...(time === undefined ? {} : { time }),
  }
}

/** An event without an id gets one that is derived from the idempotency key of its request. */
const idOfWork = (context: Context): string | undefined => {
  const uuid = uuidOfWork(context)
  return uuid === undefined ? undefined : `evt_${uuid}`
}

const receiptOf = ({ dueAt, ...receipt }: EngineReceipt): Receipt =>
  dueAt === undefined ? receipt : { ...receipt, due_at: isoTime(dueAt) }

const accepted = (receipt: EngineReceipt) =>
  ({ status: receipt.duplicate ? 200 : 202, receipt: receiptOf(receipt) }) as const

/** The verdict on one event of a batch. */
const verdictOf = (found: EngineReceipt | TrihandError) => {
  if (!(found instanceof TrihandError)) return accepted(found)
  const refused = problemOf(found)
  return { status: refused.status, problem: refused }
}

const send: Handle = async (service, context) => {
  const mode = modeOf(context)
  const sender = askedBy(context)
  if (mode === 'batch') {
    const events = await cloudEvents(context, mode)
    return context.json({ items: (await service.sendInOrder(events, sender)).map(verdictOf) }, 207)
  }
  const [event] =
    mode === null
      ? [incoming(context, await readBody(context, { schema: SEND_EVENT, code: CODE }))]
      : await cloudEvents(context, mode)
  const given = await service.send(event as IncomingEvent, { ...askedRun(context), ...sender })
  // No other sender knows the id that is derived from the key: an earlier attempt of this request sent the event.
  const isOwn = isSecondAttempt(context) && given.id === idOfWork(context)
  const { status, receipt } = accepted(isOwn ? { ...given, duplicate: false } : given)
  return context.json(receipt, status)
}

const list: Handle = async (service, context, query) => {
  const limit = limitOf(query)
  const type = query.get('type') ?? null
  const rows = { tenant: service.tenant, type, before: positionOf(query), limit: limit + 1 }
  const events = await service.reader.events(rows)
  return context.json(pageOf(events, limit, { item: eventDocument, cursor: (last) => String(last.sequence) }))
}

const show: Handle = async (service, context, query) => {
  const event = await findEvent(service, context.req.param('id') ?? '', query.get('source') ?? null)
  return context.json(await eventDetail(service, event))
}

export const eventRoutes: readonly Operation[] = [
  {
    id: 'listEvents',
    method: 'get',
    path: '/api/events',
    access: 'viewer',
    summary: 'Events, newest first',
    query: { type: text, ...PAGING },
    answers: { 200: json(page(ref('StoredEvent'))) },
    problems: ['CURSOR_INVALID'],
    handle: list,
  },
  {
    id: 'getEvent',
    method: 'get',
    path: '/api/events/{id}',
    access: 'viewer',
    summary: 'One event by its sequence or its id: what led to it, and what it led to',
    query: { source: described('where several sources have used the id', text) },
    answers: { 200: json(ref('EventDetail')) },
    problems: ['NOT_FOUND', 'ID_AMBIGUOUS'],
    handle: show,
  },
  {
    id: 'sendEvent',
    method: 'post',
    path: '/api/events',
    access: 'operator',
    summary: 'Sends an event, in short or as a CloudEvent; a repeat with the same source and id gets the first answer',
    body: {
      isRequired: true,
      content: [
        json(SEND_EVENT),
        { media: STRUCTURED, schema: ref('CloudEvent') },
        { media: BATCH, schema: listOf(ref('CloudEvent')) },
        { media: '*/*', schema: described('binary mode: the data; attributes are headers, ce-id and so on', anything) },
      ],
    },
    answers: {
      202: json(ref('Receipt')),
      200: json(ref('Receipt')),
      207: json(described('to a batch', record({ items: listOf(ref('EventVerdict')) }))),
    },
    problems: [
      'EVENT_UNKNOWN',
      'EVENT_INVALID',
      'EVENT_RESERVED',
      'EVENT_HUMAN_ONLY',
      'EVENT_TOO_LARGE',
      'EVENT_ID_REUSED',
      'FAN_OUT_LIMIT',
    ],
    handle: send,
  },
]
