/**
 * Routes for queues: list, show, enqueue a message, revive dead messages.
 *
 * Owns parsing and responses. What happens if a queue is full is decided by the engine.
 */
import type { Context } from 'hono'
import type { QueueView } from '#engine/services/queues.ts'
import { askedBy, callerName } from '#http/access/identity.ts'
import { MESSAGE } from '#http/documents/queues.ts'
import type { Queue } from '#http/openapi/api.ts'
import { nothing, page, record, ref, whole } from '#http/openapi/schema.ts'
import { body, type Handle, json, type Operation, optionalBody } from '#http/routes/route.ts'
import { optionalText, readBody, readOptionalBody } from '#http/server/body.ts'
import { isSecondAttempt, uuidOfWork, workOf } from '#http/server/work.ts'

const CODE = 'INPUT_INVALID'
const AT = '/api/queues/{name}'

const nameOf = (context: Context): string => context.req.param('name') ?? ''

const queueDocument = ({ name, handler, length, maxLength, onFull, inFlight, dead }: QueueView): Queue => ({
  name,
  handler,
  length,
  max_length: maxLength,
  on_full: onFull,
  in_flight: inFlight,
  dead,
})

const list: Handle = async ({ queues }, context) =>
  context.json({ items: (await queues.list()).map(queueDocument), next_cursor: null })

const show: Handle = async ({ queues }, context) => context.json(queueDocument(await queues.show(nameOf(context))))

const put: Handle = async ({ queues }, context) => {
  const members = await readBody(context, { schema: MESSAGE, code: CODE })
  const given = optionalText(members, 'id', CODE)
  const uuid = uuidOfWork(context)
  const id = given ?? (uuid === undefined ? undefined : `msg_${uuid}`)
  const receipt = await queues.put(nameOf(context), members['data'], {
    ...askedBy(context),
    ...(id !== undefined && { id }),
  })
  // A duplicate of a message whose id is derived from the key was enqueued by an earlier attempt of this request.
  const isOwn = given === undefined && isSecondAttempt(context)
  return context.json(isOwn ? { ...receipt, duplicate: false } : receipt, 202)
}

const revive: Handle = async ({ queues }, context) => {
  await readOptionalBody(context, { schema: nothing, code: CODE })
  const name = nameOf(context)
  const by = callerName(context)
  const work = workOf(context)
  const before = work?.isRepeated === true ? await queues.revivedBy(name, by, work.since) : 0
  return context.json({ revived: before > 0 ? before : await queues.revive(name, { by }) })
}

export const queueRoutes: readonly Operation[] = [
  {
    id: 'listQueues',
    method: 'get',
    path: '/api/queues',
    access: 'viewer',
    summary: 'Queues, with how many messages wait in each',
    answers: { 200: json(page(ref('Queue'))) },
    handle: list,
  },
  {
    id: 'getQueue',
    method: 'get',
    path: AT,
    access: 'viewer',
    summary: 'One queue',
    answers: { 200: json(ref('Queue')) },
    problems: ['NOT_FOUND'],
    handle: show,
  },
  {
    id: 'putMessage',
    method: 'post',
    path: AT,
    access: 'operator',
    summary: 'Puts a message into a queue; refused when it is full',
    body: body(MESSAGE),
    answers: { 202: json(ref('QueueReceipt')) },
    problems: ['INPUT_INVALID', 'NOT_FOUND', 'QUEUE_FULL', 'EVENT_TOO_LARGE', 'EVENT_ID_REUSED'],
    handle: put,
  },
  {
    id: 'reviveMessages',
    method: 'post',
    path: `${AT}/revive`,
    access: 'operator',
    summary: 'Gives messages that were given up all their tries again',
    body: optionalBody(nothing),
    answers: { 200: json(record({ revived: whole })) },
    problems: ['INPUT_INVALID', 'NOT_FOUND'],
    handle: revive,
  },
]
