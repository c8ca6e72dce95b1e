/**
 * Routes for triggers: list, and rehearse with an event that is not sent.
 *
 * Owns parsing and responses. Nothing here writes.
 */
import { REHEARSE } from '#http/documents/events.ts'
import { page, ref } from '#http/openapi/schema.ts'
import { optionalText, readBody, textOf } from '#http/server/body.ts'
import { listTriggers } from '#triggers/list.ts'
import { body, type Handle, json, type Operation } from './route.ts'

const CODE = 'EVENT_INVALID'

const list: Handle = async (service, context) =>
  context.json({ items: listTriggers(service.system), next_cursor: null })

/** `name` is an event type, or a webhook: then `data` is the body of a delivery. */
const rehearse: Handle = async (service, context) => {
  const members = await readBody(context, { schema: REHEARSE, code: CODE })
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

export const triggerRoutes: readonly Operation[] = [
  {
    id: 'listTriggers',
    method: 'get',
    path: '/api/triggers',
    access: 'viewer',
    summary: 'Who starts by what',
    answers: { 200: json(page(ref('Trigger'))) },
    handle: list,
  },
  {
    id: 'rehearseEvent',
    method: 'post',
    path: '/api/triggers/test',
    access: 'viewer',
    summary: 'What an event, or a delivery of a webhook, would start; nothing is sent',
    body: body(REHEARSE),
    answers: { 200: json(ref('Rehearsal')) },
    problems: [
      'EVENT_INVALID',
      'EVENT_UNKNOWN',
      'EVENT_TOO_LARGE',
      'TEMPLATE_ERROR',
      'TRANSFORM_FAILED',
      'EXPR_FAILED',
    ],
    handle: rehearse,
  },
]
