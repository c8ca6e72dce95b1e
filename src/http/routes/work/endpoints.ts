/**
 * Routes for webhook endpoints: list with their state, their deliveries, and redelivery.
 *
 * Owns parsing and responses. A delivery is a run (docs/decisions/0057): to redeliver is to retry it, by the rules of runs.
 */
import type { Context } from 'hono'
import { callerName, requireCaller } from '#http/access/identity.ts'
import { nothing, PAGING, page, ref } from '#http/openapi/schema.ts'
import { type Handle, json, type Operation, optionalBody } from '#http/routes/route.ts'
import { readOptionalBody } from '#http/server/body.ts'
import { badCursor, limitOf, pageOf } from '#http/server/query.ts'
import { findRun } from '#http/server/run-id.ts'
import type { Service } from '#http/server/service.ts'
import { wasRecorded } from '#http/server/work.ts'
import { deliveryDocument, endpointDocument } from '#http/wire/deliveries.ts'
import { endpointHandler } from '#model/flow/policies/endpoint-health.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { isRunId } from '#model/kernel/ids.ts'

const list: Handle = async (service, context) => {
  const endpoints = [...service.system.endpoints.values()]
  return context.json({
    items: await Promise.all(endpoints.map((one) => endpointDocument(service, one))),
    next_cursor: null,
  })
}

/** The name of the function that delivers to the endpoint. */
const handlerOf = ({ system }: Service, context: Context): string => {
  const name = context.req.param('name') ?? ''
  if (!system.endpoints.has(name)) throw new TrihandError('NOT_FOUND', `there is no endpoint ${name}`)
  return endpointHandler(name)
}

const deliveries: Handle = async (service, context, query) => {
  const [handler, limit, cursor] = [handlerOf(service, context), limitOf(query), query.get('cursor')]
  if (cursor !== undefined && !isRunId(cursor)) throw badCursor(cursor)
  const asked = { tenant: service.tenant, status: null, handler, before: cursor ?? null, limit: limit + 1 }
  const { items, next_cursor } = pageOf(await service.reader.runs(asked), limit, {
    item: (run) => deliveryDocument(service, run),
    cursor: ({ id }) => id,
  })
  return context.json({ items: await Promise.all(items), next_cursor })
}

const redeliver: Handle = async (service, context) => {
  await readOptionalBody(context, { schema: nothing, code: 'INPUT_INVALID' })
  const handler = handlerOf(service, context)
  const run = await findRun(service, context.req.param('delivery') ?? '')
  if (run.handler !== handler) throw new TrihandError('NOT_FOUND', `${run.id} is not a delivery to this endpoint`)
  if (!(await wasRecorded(service, context, run, 'run.retried')))
    await service.retry(run.id, { by: callerName(context), kind: requireCaller(context).kind })
  return context.json(await deliveryDocument(service, await findRun(service, run.id)), 202)
}

const AT = '/api/webhook-endpoints'

export const endpointRoutes: readonly Operation[] = [
  {
    id: 'listWebhookEndpoints',
    method: 'get',
    path: AT,
    access: 'viewer',
    summary: 'Who outside is told of which events, and how each does',
    answers: { 200: json(page(ref('WebhookEndpoint'))) },
    handle: list,
  },
  {
    id: 'listDeliveries',
    method: 'get',
    path: `${AT}/{name}/deliveries`,
    access: 'viewer',
    summary: 'What was delivered to an endpoint or is to be, newest first, with every try',
    query: PAGING,
    answers: { 200: json(page(ref('WebhookDelivery'))) },
    problems: ['NOT_FOUND', 'CURSOR_INVALID'],
    handle: deliveries,
  },
  {
    id: 'redeliverWebhook',
    method: 'post',
    path: `${AT}/{name}/deliveries/{delivery}/redeliver`,
    access: 'operator',
    summary: 'Tries a delivery once more that was given up',
    body: optionalBody(nothing),
    answers: { 202: json(ref('WebhookDelivery')) },
    problems: ['INPUT_INVALID', 'NOT_FOUND', 'ID_AMBIGUOUS', 'RUN_NOT_FAILED'],
    handle: redeliver,
  },
]
