/**
 * Triggers over HTTP: listed, and rehearsed with an event that is not sent.
 *
 * Owns parsing and answers. Nothing here writes.
 */
import type { Context } from 'hono'
import { listTriggers } from '../../triggers/list.ts'
import { optionalText, readBody, textOf } from '../body.ts'
import { readQuery } from '../query.ts'
import type { Service } from '../service.ts'
import type { Route } from './route.ts'

const CODE = 'EVENT_INVALID'

const list = async (service: Service, context: Context): Promise<Response> => {
  readQuery(context, [])
  return context.json({ items: listTriggers(service.system), next_cursor: null })
}

/** `name` is an event type, or a webhook: then `data` is the body of a delivery. */
const rehearse = async (service: Service, context: Context): Promise<Response> => {
  readQuery(context, [])
  const members = await readBody(context, { known: ['name', 'data', 'source'], code: CODE })
  const name = textOf(members, 'name', CODE)
  const source = optionalText(members, 'source', CODE)
  const event = (await service.webhooks.rehearse(name, members['data'] ?? {})) ?? {
    type: name,
    data: members['data'] ?? {},
    ...(source === undefined ? {} : { source }),
  }
  const { starts, suppressed } = await service.rehearse(event)
  return context.json({ event: { type: event.type, data: event.data }, starts, suppressed })
}

export const triggerRoutes = (service: Service): readonly Route[] => [
  { path: '/api/triggers', get: (context) => list(service, context) },
  { path: '/api/triggers/test', post: (context) => rehearse(service, context) },
]
