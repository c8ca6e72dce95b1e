/**
 * Events over HTTP: sent in our short form, listed newest first.
 *
 * Owns the spelling of an incoming event. Admission is the engine's: no rule about events lives here.
 */
import type { Context } from 'hono'
import type { IncomingEvent } from '../../engine/intake.ts'
import { TrihandError } from '../../model/errors.ts'
import { LOCAL_TENANT } from '../../model/ids.ts'
import { type Members, optionalText, readBody, textOf } from '../body.ts'
import { SEND_EVENT } from '../documents/events.ts'
import { callerName } from '../identity.ts'
import { limitOf, pageOf, positionOf, type Query } from '../query.ts'
import { PAGING, page, ref, text } from '../schema.ts'
import type { Service } from '../service.ts'
import { eventDocument, receiptDocument } from '../wire.ts'
import { parseIsoTime } from '../wire-time.ts'
import { body, json, type Operation } from './route.ts'

const CODE = 'EVENT_INVALID'

const timeOf = (members: Members): number | undefined => {
  const text = optionalText(members, 'time', CODE)
  if (text === undefined) return undefined
  const time = parseIsoTime(text)
  if (time === null)
    throw new TrihandError(CODE, `time is "${text}"; expected an instant with its offset, like 2026-01-31T09:00:00Z`)
  return time
}

const incoming = (members: Members, sender: string): IncomingEvent => {
  const id = optionalText(members, 'id', CODE)
  const subject = optionalText(members, 'subject', CODE)
  const time = timeOf(members)
  return {
    type: textOf(members, 'type', CODE),
    data: members['data'] ?? {},
    source: optionalText(members, 'source', CODE) ?? `/api/${sender}`,
    ...(id === undefined ? {} : { id }),
    ...(subject === undefined ? {} : { subject }),
    ...(time === undefined ? {} : { time }),
  }
}

const send = async (service: Service, context: Context): Promise<Response> => {
  const members = await readBody(context, { schema: SEND_EVENT, code: CODE })
  const receipt = await service.send(incoming(members, callerName(context)))
  const suppressed = await service.reader.suppressed(LOCAL_TENANT, receipt.sequence)
  return context.json(receiptDocument(receipt, suppressed), receipt.duplicate ? 200 : 202)
}

const list = async (service: Service, context: Context, query: Query): Promise<Response> => {
  const limit = limitOf(query)
  const type = query.get('type') ?? null
  const rows = { tenant: LOCAL_TENANT, type, before: positionOf(query), limit: limit + 1 }
  const events = await service.reader.events(rows)
  return context.json(pageOf(events, limit, { item: eventDocument, cursor: (last) => String(last.sequence) }))
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
    id: 'sendEvent',
    method: 'post',
    path: '/api/events',
    access: 'operator',
    summary: 'Sends an event; a repeat with the same source and id gets the first answer',
    body: body(SEND_EVENT),
    answers: { 202: json(ref('Receipt')), 200: json(ref('Receipt')) },
    problems: [
      'EVENT_UNKNOWN',
      'EVENT_INVALID',
      'EVENT_RESERVED',
      'EVENT_TOO_LARGE',
      'EVENT_ID_REUSED',
      'FAN_OUT_LIMIT',
    ],
    handle: send,
  },
]
