/**
 * Runs over HTTP: started, listed, counted, shown with their facts, and the commands a person may give them.
 *
 * Owns parsing and answers. Whether a command is allowed is the run's own rule: no rule lives here.
 */
import type { Context } from 'hono'
import { TrihandError } from '../../model/errors.ts'
import { isRunId, LOCAL_TENANT, type RunId } from '../../model/ids.ts'
import type { Verdict } from '../../model/run-fact.ts'
import { RUN_STATUSES } from '../../model/status.ts'
import type { RunSummary } from '../../ports/reader.ts'
import { optionalText, readBody, readOptionalBody, textOf } from '../body.ts'
import { badCursor, choiceOf, limitOf, pageOf, positionOf, type Query, readQuery } from '../query.ts'
import { factPage, runDetail } from '../run-detail.ts'
import { findRun } from '../run-id.ts'
import type { Service } from '../service.ts'
import { runDocument } from '../wire.ts'
import type { Handle, Route } from './route.ts'

const CODE = 'INPUT_INVALID'
/** The one identity of a server on loopback. */
const BY = 'local'
const VERDICTS: readonly Verdict[] = ['happened', 'run_again', 'abort']
/** The word for a session's stream is no status of a run. */
const STATUSES = RUN_STATUSES.filter((status) => status !== 'session')

const runCursor = (query: Query): RunId | null => {
  const text = query.get('cursor')
  if (text === undefined) return null
  if (!isRunId(text)) throw badCursor(text)
  return text
}

const list = async (service: Service, context: Context): Promise<Response> => {
  const query = readQuery(context, ['status', 'handler', 'limit', 'cursor'])
  const limit = limitOf(query)
  const runs = await service.reader.runs({
    tenant: LOCAL_TENANT,
    status: choiceOf(query, 'status', STATUSES),
    handler: query.get('handler') ?? null,
    before: runCursor(query),
    limit: limit + 1,
  })
  return context.json(pageOf(runs, limit, { item: runDocument, cursor: (last) => last.id }))
}

const count = async (service: Service, context: Context): Promise<Response> => {
  readQuery(context, [])
  const counts = await service.reader.counts(LOCAL_TENANT)
  return context.json(Object.fromEntries(STATUSES.map((status) => [status, counts.get(status) ?? 0])))
}

const start = async (service: Service, context: Context): Promise<Response> => {
  readQuery(context, [])
  const members = await readBody(context, { known: ['name', 'input'], code: CODE })
  const id = await service.start(textOf(members, 'name', CODE), members['input'] ?? null)
  return context.json({ id }, 201, { location: `/api/runs/${id}` })
}

const findByPath = (service: Service, context: Context): Promise<RunSummary> =>
  findRun(service.reader, context.req.param('id') ?? '')

const show = async (service: Service, context: Context): Promise<Response> => {
  readQuery(context, [])
  return context.json(await runDetail(service, await findByPath(service, context)))
}

const facts = async (service: Service, context: Context): Promise<Response> => {
  const query = readQuery(context, ['limit', 'cursor'])
  const run = await findByPath(service, context)
  return context.json(await factPage(service.reader, run.id, positionOf(query) ?? 0, limitOf(query)))
}

/** A command to one run; answers what the run is afterwards. */
const command =
  (service: Service, perform: (run: RunId, context: Context) => Promise<void>): Handle =>
  async (context) => {
    readQuery(context, [])
    const { id } = await findByPath(service, context)
    await perform(id, context)
    const after = await service.reader.run(LOCAL_TENANT, id)
    return context.json(after === null ? { id } : runDocument(after), 202)
  }

const cancel = (service: Service): Handle =>
  command(service, async (run, context) => {
    const reason = optionalText(await readOptionalBody(context, { known: ['reason'], code: CODE }), 'reason', CODE)
    await service.cancel(run, { by: BY, ...(reason === undefined ? {} : { reason }) })
  })

const retry = (service: Service): Handle =>
  command(service, async (run, context) => {
    await readOptionalBody(context, { known: [], code: CODE })
    await service.retry(run, { by: BY })
  })

const resolve = (service: Service): Handle =>
  command(service, async (run, context) => {
    const members = await readBody(context, { known: ['step', 'verdict', 'result'], code: CODE })
    const given = textOf(members, 'verdict', CODE)
    const verdict = VERDICTS.find((word) => word === given)
    if (verdict === undefined)
      throw new TrihandError(CODE, `verdict is "${given}"; expected one of ${VERDICTS.join(', ')}`)
    const { result } = members
    await service.resolve(run, textOf(members, 'step', CODE), {
      verdict,
      by: BY,
      ...(result === undefined ? {} : { result }),
    })
  })

export const runRoutes = (service: Service): readonly Route[] => [
  { path: '/api/runs', get: (context) => list(service, context), post: (context) => start(service, context) },
  { path: '/api/runs/counts', get: (context) => count(service, context) },
  { path: '/api/runs/:id', get: (context) => show(service, context) },
  { path: '/api/runs/:id/facts', get: (context) => facts(service, context) },
  { path: '/api/runs/:id/cancel', post: cancel(service) },
  { path: '/api/runs/:id/retry', post: retry(service) },
  { path: '/api/runs/:id/resolve', post: resolve(service) },
]
