/**
 * Routes for delayed events: list, and cancel while they are not sent.
 *
 * Owns parsing and responses. A delayed event is a run that sends it (manifest/define/delayed-event.ts): until then its id is that of the
 * run.
 */
import { callerName } from '#http/access/identity.ts'
import type { DelayedEvent } from '#http/openapi/api.ts'
import { PAGING, page, ref } from '#http/openapi/schema.ts'
import { type Handle, json, type Operation } from '#http/routes/route.ts'
import { badCursor, limitOf, pageOf, type Query } from '#http/server/query.ts'
import { findRun } from '#http/server/run-id.ts'
import type { Service } from '#http/server/service.ts'
import { isoTime, isoTimeOrNull } from '#http/wire/time.ts'
import { LATER } from '#manifest/define/delayed-event.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { readRunFact } from '#model/kernel/fact-codec.ts'
import { isRunId } from '#model/kernel/ids.ts'
import { isEnded } from '#model/run/status.ts'
import type { RunSummary } from '#ports/reader.ts'

type Sent = Pick<DelayedEvent, 'type' | 'subject' | 'data'>

const delayedEvent = async ({ reader, tenant }: Service, run: RunSummary): Promise<DelayedEvent> => {
  const { id, wakeAt, createdAt } = run
  const [first] = await reader.facts(tenant, id, { after: 0, limit: 1 })
  const fact = first === undefined ? null : readRunFact(first)
  const input = fact?.type === 'run.started' && fact.input.kind === 'given' ? fact.input.payload : null
  const { type, subject, data } = (input !== null && 'value' in input ? input.value : {}) as unknown as Sent
  return { id, type, subject, data, due_at: isoTimeOrNull(wakeAt), created_at: isoTime(createdAt) }
}

const cursorOf = (query: Query) => {
  const text = query.get('cursor')
  if (text === undefined) return null
  if (!isRunId(text)) throw badCursor(text)
  return text
}

const list: Handle = async (service, context, query) => {
  const [limit, { tenant }] = [limitOf(query), service]
  const asked = { tenant, status: 'queued', handler: LATER, before: cursorOf(query), limit: limit + 1 } as const
  const { items, next_cursor } = pageOf(await service.reader.runs(asked), limit, {
    item: (run) => delayedEvent(service, run),
    cursor: ({ id }) => id,
  })
  return context.json({ items: await Promise.all(items), next_cursor })
}

const find = async (service: Service, text: string): Promise<RunSummary> => {
  const run = await findRun(service, text).catch((error: unknown) => {
    if (error instanceof TrihandError && error.code === 'NOT_FOUND') return null
    throw error
  })
  if (run !== null && run.handler === LATER) return run
  throw new TrihandError('NOT_FOUND', `no event ${text} is scheduled; an event that was sent cannot be cancelled`)
}

const cancel: Handle = async (service, context) => {
  const run = await find(service, context.req.param('id') ?? '')
  if (isEnded(run.status)) throw new TrihandError('RUN_ENDED', `the event was already sent or cancelled: ${run.status}`)
  const event = await delayedEvent(service, run)
  await service.cancel(run.id, { by: callerName(context), reason: 'the event was cancelled' })
  return context.json(event)
}

export const delayedRoutes: readonly Operation[] = [
  {
    id: 'listDelayedEvents',
    method: 'get',
    path: '/api/events/delayed',
    access: 'viewer',
    summary: 'Events that are to be sent later, the last that was asked for first',
    query: PAGING,
    answers: { 200: json(page(ref('DelayedEvent'))) },
    problems: ['CURSOR_INVALID'],
    handle: list,
  },
  {
    id: 'cancelEvent',
    method: 'delete',
    path: '/api/events/{id}',
    access: 'operator',
    summary: 'Takes an event back that is to be sent later; answers what it was',
    answers: { 200: json(ref('DelayedEvent')) },
    problems: ['NOT_FOUND', 'ID_AMBIGUOUS', 'RUN_ENDED'],
    handle: cancel,
  },
]
