/**
 * Webhooks over HTTP: one route for all of them, since routes cannot be added later; the system's own table says which there are.
 *
 * Owns the raw request and the answer. Who may send and what becomes of a body is triggers/webhooks.ts.
 */
import type { Context } from 'hono'
import { readBody, textOf } from '../body.ts'
import { readQuery } from '../query.ts'
import type { Service } from '../service.ts'
import { receiptDocument } from '../wire.ts'
import type { Route } from './route.ts'

const CODE = 'INPUT_INVALID'

const receive = async (service: Service, context: Context): Promise<Response> => {
  const { req } = context
  const body = new Uint8Array(await req.arrayBuffer())
  const receipt = await service.webhooks.receive({ path: req.path, headers: req.header(), query: req.query(), body })
  return context.json(receiptDocument(receipt, []), receipt.duplicate ? 200 : 202)
}

const replay = async (service: Service, context: Context): Promise<Response> => {
  readQuery(context, [])
  const members = await readBody(context, { known: ['delivery'], code: CODE })
  const receipt = await service.webhooks.replay(context.req.param('name') ?? '', textOf(members, 'delivery', CODE))
  return context.json(receiptDocument(receipt, []), 202)
}

export const webhookRoutes = (service: Service): readonly Route[] => [
  { path: '/hooks/*', post: (context) => receive(service, context) },
  { path: '/api/webhooks/:name/replay', post: (context) => replay(service, context) },
]
