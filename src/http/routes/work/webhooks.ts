/**
 * Routes for webhooks: one route receives all of them, since routes cannot be added later; the system's table lists the webhooks.
 *
 * Owns the raw request and the response. Authentication and the translation of a body are in triggers/webhooks.ts.
 */
import { REPLAY } from '#http/documents/events.ts'
import type { DeadLetter, Receipt } from '#http/openapi/api.ts'
import { anything, PAGING, page, ref } from '#http/openapi/schema.ts'
import { body, type Handle, json, type Operation } from '#http/routes/route.ts'
import { readBody, textOf } from '#http/server/body.ts'
import { limitOf, pageOf } from '#http/server/query.ts'
import { isSecondAttempt } from '#http/server/work.ts'
import { deadLetters } from '#http/wire/dead-letters.ts'
import type { ErrorCode } from '#model/kernel/errors.ts'

const CODE = 'INPUT_INVALID'

const receive: Handle = async (service, context) => {
  const { req } = context
  const bytes = new Uint8Array(await req.arrayBuffer())
  const delivery = { path: req.path, headers: req.header(), query: req.query(), body: bytes }
  const receipt = await service.webhooks.receive(delivery)
  return context.json(receipt satisfies Receipt, receipt.duplicate ? 200 : 202)
}

const replay: Handle = async (service, context) => {
  const members = await readBody(context, { schema: REPLAY, code: CODE })
  const receipt = await service.webhooks.replay(context.req.param('name') ?? '', textOf(members, 'delivery', CODE), {
    isRepeated: isSecondAttempt(context),
  })
  return context.json(receipt satisfies Receipt, 202)
}

const listKept: Handle = async (service, context, query) => {
  const limit = limitOf(query)
  const found = await deadLetters(service, { after: query.get('cursor') ?? null, limit: limit + 1 })
  const cursor = ({ webhook, delivery }: DeadLetter): string => `${webhook}/${delivery}`
  return context.json(pageOf(found, limit, { item: (letter) => letter, cursor }))
}

/** Errors after which a delivery is stored and can be replayed. */
const UNREADABLE = [
  ...['EVENT_INVALID', 'EVENT_TOO_LARGE', 'EVENT_ID_REUSED', 'EVENT_UNKNOWN', 'FAN_OUT_LIMIT'],
  ...['TEMPLATE_ERROR', 'TRANSFORM_FAILED', 'EXPR_FAILED', 'ENV_MISSING'],
] as readonly ErrorCode[]

export const webhookRoutes: readonly Operation[] = [
  {
    id: 'receiveWebhook',
    method: 'post',
    path: '/hooks/{path+}',
    access: 'public',
    summary: 'A delivery to a declared webhook, proved by its signature or secret',
    // Any parameter of the sender is accepted: a transform may read it.
    query: '*',
    body: { isRequired: true, content: [{ media: '*/*', schema: anything }] },
    answers: { 202: json(ref('Receipt')), 200: json(ref('Receipt')) },
    problems: ['SIGNATURE_INVALID', ...UNREADABLE],
    handle: receive,
  },
  {
    id: 'listDeadLetters',
    method: 'get',
    path: '/api/webhooks/dead-letters',
    access: 'viewer',
    summary: 'Deliveries of webhooks that made no event, by webhook and id; each can be replayed',
    query: PAGING,
    answers: { 200: json(page(ref('DeadLetter'))) },
    handle: listKept,
  },
  {
    id: 'replayWebhook',
    method: 'post',
    path: '/api/webhooks/{name}/replay',
    access: 'operator',
    summary: 'Takes a delivery again that could not be read',
    body: body(REPLAY),
    answers: { 202: json(ref('Receipt')) },
    problems: ['INPUT_INVALID', ...UNREADABLE],
    handle: replay,
  },
]
