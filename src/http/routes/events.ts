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
import { limitOf, pageOf, positionOf, readQuery } from '../query.ts'
import type { Service } from '../service.ts'
import { eventDocument, receiptDocument } from '../wire.ts'
import { parseIsoTime } from '../wire-time.ts'
import type { Route } from './route.ts'

const CODE = 'EVENT_INVALID'
const MEMBERS = ['type', 'data', 'id', 'source', 'subject', 'time']
const DEFAULT_SOURCE = '/api/local'

const timeOf = (members: Members): number | undefined => {
  const text = optionalText(members, 'time', CODE)
  if (text === undefined) return undefined
  const time = parseIsoTime(text)
  if (time === null)
    throw new TrihandError(CODE, `time is "${text}"; expected an instant with its offset, like 2026-01-31T09:00:00Z`)
  return time
}

const incoming = (members: Members): IncomingEvent => {
  const id = optionalText(members, 'id', CODE)
  const subject = optionalText(members, 'subject', CODE)
  const time = timeOf(members)
  return {
    type: textOf(members, 'type', CODE),
    data: members['data'] ?? {},
    source: optionalText(members, 'source', CODE) ?? DEFAULT_SOURCE,
    ...(id === undefined ? {} : { id }),
    ...(subject === undefined ? {} : { subject }),
    ...(time === undefined ? {} : { time }),
  }
}

const send = async (service: Service, context: Context): Promise<Response> => {
  readQuery(context, [])
  const receipt = await service.send(incoming(await readBody(context, { known: MEMBERS, code: CODE })))
  const suppressed = await service.reader.suppressed(LOCAL_TENANT, receipt.sequence)
  return context.json(receiptDocument(receipt, suppressed), receipt.duplicate ? 200 : 202)
}

const list = async (service: Service, context: Context): Promise<Response> => {
  const query = readQuery(context, ['type', 'limit', 'cursor'])
  const limit = limitOf(query)
  const page = { type: query.get('type') ?? null, before: positionOf(query), limit: limit + 1 }
  const events = await service.reader.events({ tenant: LOCAL_TENANT, ...page })
  return context.json(pageOf(events, limit, { item: eventDocument, cursor: (last) => String(last.sequence) }))
}

export const eventRoutes = (service: Service): readonly Route[] => [
  { path: '/api/events', get: (context) => list(service, context), post: (context) => send(service, context) },
]
