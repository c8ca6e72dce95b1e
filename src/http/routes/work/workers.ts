/**
 * Routes for workers: list, show with the runs they hold, and order them to pause, resume or drain.
 *
 * Owns parsing and responses. An order is an event: the worker follows it when it reads it.
 */
import type { Context } from 'hono'
import { callerName } from '#http/access/identity.ts'
import { nothing, PAGING, page as pageSchema, ref } from '#http/openapi/schema.ts'
import { type Handle, json, type Operation, optionalBody } from '#http/routes/route.ts'
import { allWorkers } from '#http/server/all-workers.ts'
import { readOptionalBody } from '#http/server/body.ts'
import { badCursor, limitOf, pageOf, type Query } from '#http/server/query.ts'
import type { Service } from '#http/server/service.ts'
import { workerDetail, workerDocument } from '#http/wire/worker.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { isWorkerId, type WorkerId } from '#model/kernel/ids.ts'
import type { WorkerOrder } from '#model/worker/worker-control.ts'
import type { Reader, WorkerSummary } from '#ports/reader.ts'

const RUNS_SHOWN = 100
const SHORTEST = 6

const cursorOf = (query: Query): WorkerId | null => {
  const text = query.get('cursor')
  if (text === undefined) return null
  if (!isWorkerId(text)) throw badCursor(text)
  return text
}

const list: Handle = async ({ reader }, context, query) => {
  const limit = limitOf(query)
  const workers = await reader.workers({ after: cursorOf(query), limit: limit + 1 })
  return context.json(pageOf(workers, limit, { item: workerDocument, cursor: (last) => last.id }))
}

/** Matches the whole id, its last digits, or the name. */
const isMeant = ({ id, info }: WorkerSummary, text: string): boolean =>
  id === text || info?.name === text || (text.length >= SHORTEST && id.endsWith(text.toLowerCase()))

const find = async (reader: Reader, text: string): Promise<WorkerSummary> => {
  const found = (await allWorkers(reader)).filter((worker) => isMeant(worker, text))
  const [first, second] = found
  if (first === undefined) throw new TrihandError('NOT_FOUND', `there is no worker ${text}`)
  if (second !== undefined)
    throw new TrihandError('ID_AMBIGUOUS', `${text} matches ${found.length} workers: ${first.id}, ${second.id}`)
  return first
}

const findByPath = (service: Service, context: Context): Promise<WorkerSummary> =>
  find(service.reader, context.req.param('id') ?? '')

const show: Handle = async (service, context) => {
  const worker = await findByPath(service, context)
  return context.json(workerDetail(worker, await service.reader.heldBy(service.tenant, worker.id, RUNS_SHOWN)))
}

const give =
  (order: WorkerOrder): Handle =>
  async (service, context) => {
    await readOptionalBody(context, { schema: nothing, code: 'INPUT_INVALID' })
    const worker = await findByPath(service, context)
    await service.fleet.order(order, worker.id, { by: callerName(context) })
    const now = (await allWorkers(service.reader)).find(({ id }) => id === worker.id)
    // A worker without runs may have left already.
    return context.json(workerDocument(now ?? worker), 202)
  }

const command = (order: WorkerOrder, summary: string): Operation => ({
  id: `${order}Worker`,
  method: 'post',
  path: `/api/workers/{id}/${order}`,
  access: 'operator',
  summary,
  body: optionalBody(nothing),
  answers: { 202: json(ref('Worker')) },
  problems: ['INPUT_INVALID', 'ID_AMBIGUOUS'],
  handle: give(order),
})

export const workerRoutes: readonly Operation[] = [
  {
    id: 'listWorkers',
    method: 'get',
    path: '/api/workers',
    access: 'viewer',
    summary: 'Workers that beat',
    query: PAGING,
    answers: { 200: json(pageSchema(ref('Worker'))) },
    problems: ['CURSOR_INVALID'],
    handle: list,
  },
  {
    id: 'getWorker',
    method: 'get',
    path: '/api/workers/{id}',
    access: 'viewer',
    summary: 'One worker and what it holds: by id, its last digits, or its name',
    answers: { 200: json(ref('WorkerDetail')) },
    problems: ['ID_AMBIGUOUS'],
    handle: show,
  },
  command('drain', 'Orders a worker to finish what it has and leave'),
  command('pause', 'Orders a worker to take nothing new; what it has goes on'),
  command('resume', 'Lets a paused worker take runs again'),
]
