/**
 * Routes for runs: start, list, count, show with facts, and the commands that a person may give them.
 *
 * Owns parsing and responses. Whether a command is allowed is decided by the run, not here.
 */
import type { Context } from 'hono'
import { askedBy, callerName, requireCaller, requireIdentity, requirePerson } from '#http/access/identity.ts'
import { CANCEL_RUN, PAUSE_RUN, RESOLVE_STEP, RUN_FILTER, START_RUN, STATUSES, VERDICTS } from '#http/documents/runs.ts'
import type { RetriedRun, RunDetail } from '#http/openapi/api.ts'
import { described, nothing, PAGING, page, record, ref, text } from '#http/openapi/schema.ts'
import { body, type Handle, json, type Operation, optionalBody } from '#http/routes/route.ts'
import { DECISIVE } from '#http/routes/work/tasks.ts'
import { type Members, optionalText, readBody, readOptionalBody, textOf } from '#http/server/body.ts'
import { badCursor, choiceOf, limitOf, pageOf, positionOf, type Query } from '#http/server/query.ts'
import { findRun } from '#http/server/run-id.ts'
import type { Service } from '#http/server/service.ts'
import { requireVersion, tagOf } from '#http/server/version.ts'
import { type AttributedFact, askedRun, wasRecorded } from '#http/server/work.ts'
import { countsDocument, MOST_COUNTED } from '#http/wire/counts.ts'
import { factPage, runDetail, runWhy } from '#http/wire/run-detail.ts'
import { confirmationOf } from '#http/wire/task-body.ts'
import { runDocument } from '#http/wire/wire.ts'
import { durationMs } from '#manifest/time/duration.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { isRunId, isSessionId, type RunId, type SessionId } from '#model/kernel/ids.ts'
import type { RunSummary } from '#ports/reader.ts'

const CODE = 'INPUT_INVALID'

const runCursor = (query: Query): RunId | null => {
  const text = query.get('cursor')
  if (text === undefined) return null
  if (!isRunId(text)) throw badCursor(text)
  return text
}

const sessionOf = (query: Query): SessionId | null => {
  const text = query.get('session')
  if (text === undefined) return null
  if (!isSessionId(text)) throw new TrihandError('QUERY_UNKNOWN', `session=${text}; expected the id of a session`)
  return text
}

const list: Handle = async (service, context, query) => {
  const limit = limitOf(query)
  const runs = await service.reader.runs({
    tenant: service.tenant,
    status: choiceOf(query, 'status', STATUSES),
    handler: query.get('handler') ?? null,
    session: sessionOf(query),
    before: runCursor(query),
    limit: limit + 1,
  })
  return context.json(pageOf(runs, limit, { item: runDocument, cursor: (last) => last.id }))
}

const count: Handle = async (service, context) => {
  return context.json(countsDocument(await service.reader.newestCounts(service.tenant, MOST_COUNTED)))
}

/** The session that a run is to work in. It must exist, because a run does not create one. */
const sessionIn = async (service: Service, members: Members): Promise<SessionId | null> => {
  const id = optionalText(members, 'session', CODE)
  if (id === undefined) return null
  if (isSessionId(id) && (await service.reader.session(service.tenant, id)) !== null) return id
  throw new TrihandError('NOT_FOUND', `there is no session ${id}`)
}

const start: Handle = async (service, context) => {
  const members = await readBody(context, { schema: START_RUN, code: CODE })
  const callbackUrl = optionalText(members, 'callback_url', CODE)
  const session = await sessionIn(service, members)
  const options = {
    ...askedRun(context),
    ...askedBy(context),
    ...(callbackUrl !== undefined && { callbackUrl }),
    ...(session !== null && { session }),
  }
  const id = await service.start(textOf(members, 'name', CODE), members['input'] ?? null, options)
  return context.json({ id }, 201, { location: `/api/runs/${id}` })
}

const findByPath = (service: Service, context: Context): Promise<RunSummary> =>
  findRun(service, context.req.param('id') ?? '')

/** Shorter than the time after which most proxies close an idle connection. */
const MAX_WAIT_MS = 50_000

const waitOf = (query: Query): number => {
  const text = query.get('wait')
  if (text === undefined) return 0
  const ms = /^\d{1,5}(ms|s)$/.test(text) ? durationMs(text) : Number.NaN
  if (!(ms <= MAX_WAIT_MS)) throw new TrihandError('QUERY_UNKNOWN', `wait=${text}; expected 1s to 50s`)
  return ms
}

/** The tag also covers the run's children and whether a worker is available: both change without a fact of the run. */
const tagOfRun = ({ version, children, waiting_on }: RunDetail): string =>
  tagOf(
    version,
    children.reduce((sum, child) => sum + child.version, 0),
    waiting_on.filter(({ kind }) => kind === 'no_worker').length,
  )

const show: Handle = async (service, context, query) => {
  const wait = waitOf(query)
  const run = await findByPath(service, context)
  if (wait > 0) await service.result(run.id, { wait })
  const detail = await runDetail(service, wait > 0 ? await findByPath(service, context) : run)
  return context.json(detail, 200, { etag: tagOfRun(detail) })
}

const why: Handle = async (service, context) => context.json(await runWhy(service, await findByPath(service, context)))

const facts: Handle = async (service, context, query) => {
  const run = await findByPath(service, context)
  return context.json(await factPage(service, run.id, positionOf(query) ?? 0, limitOf(query)))
}

/** A command to one run, which the fact `told` records under the caller's name; answers the run after the command. */
const command =
  (
    told: AttributedFact | null,
    perform: (service: Service, run: RunId, context: Context) => Promise<object | undefined>,
    /** Further members of the answer if nothing had to be performed. */
    otherwise: object = {},
  ): Handle =>
  async (service, context) => {
    const run = await findByPath(service, context)
    const { id, version } = run
    let about = otherwise
    if (told === null || !(await wasRecorded(service, context, run, told))) {
      requireVersion(context, version)
      about = (await perform(service, id, context)) ?? otherwise
    }
    const after = await service.reader.run(service.tenant, id)
    return context.json(after === null ? { id } : { ...runDocument(after), ...about }, 202)
  }

const cancel = command('run.cancel_requested', async (service, run, context) => {
  const members = await readOptionalBody(context, { schema: CANCEL_RUN, code: CODE })
  const reason = optionalText(members, 'reason', CODE)
  await service.cancel(run, { by: callerName(context), ...(reason === undefined ? {} : { reason }) })
})

const NOT_RETRIED: Pick<RetriedRun, 'waits' | 'done'> = { waits: false, done: [] }

const retry = command(
  'run.retried',
  async (service, run, context) => {
    await readOptionalBody(context, { schema: nothing, code: CODE })
    const { kind } = requireCaller(context)
    const { state, done } = await service.retry(run, { by: callerName(context), kind })
    return { waits: state === 'waiting', done }
  },
  NOT_RETRIED,
)

const pause = command('run.paused', async (service, run, context) => {
  const members = await readOptionalBody(context, { schema: PAUSE_RUN, code: CODE })
  await service.pause(run, { by: callerName(context), reason: optionalText(members, 'reason', CODE) ?? null })
})

const resume = command('run.resumed', async (service, run, context) => {
  await readOptionalBody(context, { schema: nothing, code: CODE })
  await service.resume(run, { by: callerName(context) })
})

const resolve = command(null, async (service, run, context) => {
  requirePerson(context, 'answers whether a step happened')
  const members = await readBody(context, { schema: RESOLVE_STEP, code: CODE })
  const given = textOf(members, 'verdict', CODE)
  const verdict = VERDICTS.find((word) => word === given)
  if (verdict === undefined)
    throw new TrihandError(CODE, `verdict is "${given}"; expected one of ${VERDICTS.join(', ')}`)
  const { result } = members
  await service.resolve(run, textOf(members, 'step', CODE), {
    ...{ verdict, by: requireIdentity(context), key: context.req.header('idempotency-key') ?? null },
    ...{ reason: optionalText(members, 'reason', CODE) ?? null, ...confirmationOf(members) },
    shownHash: optionalText(members, 'shown_hash', CODE) ?? null,
    ...(result !== undefined && { result }),
  })
})

const AT = '/api/runs/{id}'
/** The refusals of the handler's flow gate. */
const TURNED_AWAY = ['HANDLER_PAUSED', 'RUN_EXISTS', 'RUN_BACKLOG_FULL', 'RATE_LIMITED', 'COST_TOO_HIGH'] as const
const accepted = { 202: json(ref('Run')) }

export const runRoutes: readonly Operation[] = [
  {
    id: 'listRuns',
    method: 'get',
    path: '/api/runs',
    access: 'viewer',
    summary: 'Runs, newest first',
    query: { ...RUN_FILTER, ...PAGING },
    answers: { 200: json(page(ref('Run'))) },
    problems: ['CURSOR_INVALID'],
    handle: list,
  },
  {
    id: 'startRun',
    method: 'post',
    path: '/api/runs',
    access: 'operator',
    summary: 'Starts a function, an agent or a human by name, without an event',
    body: body(START_RUN),
    answers: { 201: json(record({ id: text })) },
    problems: ['NOT_FOUND', 'FUNCTION_INTERNAL', 'INPUT_INVALID', 'CALLBACK_UNSIGNED', 'EXPR_FAILED', ...TURNED_AWAY],
    handle: start,
  },
  {
    id: 'countRuns',
    method: 'get',
    path: '/api/runs/counts',
    access: 'viewer',
    summary: 'How many runs have each status',
    answers: { 200: json(ref('RunCounts')) },
    handle: count,
  },
  {
    id: 'getRun',
    method: 'get',
    path: AT,
    access: 'viewer',
    summary: 'One run: what it waits for, its children, its end, its first facts',
    query: { wait: described('waits so long for its end before it answers: 30s, at most 50s', text) },
    answers: { 200: json(ref('RunDetail')), 304: null },
    problems: ['ID_AMBIGUOUS'],
    handle: show,
  },
  {
    id: 'explainRun',
    method: 'get',
    path: `${AT}/why`,
    access: 'viewer',
    summary: 'Why a run does not go on, in one sentence',
    answers: { 200: json(ref('RunWhy')) },
    problems: ['ID_AMBIGUOUS'],
    handle: why,
  },
  {
    id: 'listFacts',
    method: 'get',
    path: `${AT}/facts`,
    access: 'viewer',
    summary: 'The facts of one run, oldest first',
    query: PAGING,
    answers: { 200: json(page(ref('Fact'))) },
    problems: ['ID_AMBIGUOUS', 'CURSOR_INVALID'],
    handle: facts,
  },
  {
    id: 'cancelRun',
    method: 'post',
    path: `${AT}/cancel`,
    access: 'operator',
    summary: 'Asks a run to end',
    body: optionalBody(CANCEL_RUN),
    answers: accepted,
    problems: ['INPUT_INVALID', 'ID_AMBIGUOUS', 'PRECONDITION_FAILED', 'RUN_ENDED'],
    handle: cancel,
  },
  {
    id: 'pauseRun',
    method: 'post',
    path: `${AT}/pause`,
    access: 'operator',
    summary: 'Begins no step of a run until it is resumed; what is under way may finish',
    body: optionalBody(PAUSE_RUN),
    answers: accepted,
    problems: ['INPUT_INVALID', 'ID_AMBIGUOUS', 'PRECONDITION_FAILED', 'RUN_ENDED', 'RUN_CANCELLED'],
    handle: pause,
  },
  {
    id: 'resumeRun',
    method: 'post',
    path: `${AT}/resume`,
    access: 'operator',
    summary: 'Lets a paused run go on',
    body: optionalBody(nothing),
    answers: accepted,
    problems: ['INPUT_INVALID', 'ID_AMBIGUOUS', 'PRECONDITION_FAILED', 'RUN_ENDED'],
    handle: resume,
  },
  {
    id: 'retryRun',
    method: 'post',
    path: `${AT}/retry`,
    access: 'operator',
    summary: 'Begins a run again that has failed; finished steps stay finished',
    body: optionalBody(nothing),
    answers: { 202: json(ref('RetriedRun')) },
    problems: [
      ...['INPUT_INVALID', 'ID_AMBIGUOUS', 'PRECONDITION_FAILED', 'RUN_NOT_FAILED', 'AGENT_CANNOT_DECIDE'],
      ...['RUN_EXISTS', 'HANDLER_PAUSED', 'RUN_BACKLOG_FULL', 'COST_TOO_HIGH', 'EXPR_FAILED'],
    ] as const,
    handle: retry,
  },
  {
    id: 'resolveStep',
    method: 'post',
    path: `${AT}/resolve`,
    access: 'decider',
    isKept: false,
    summary: 'Answers the task that asks whether the effect of a step took place',
    body: body(RESOLVE_STEP),
    answers: accepted,
    problems: ['ID_AMBIGUOUS', 'PRECONDITION_FAILED', 'STEP_AT_WORK', ...DECISIVE],
    handle: resolve,
  },
]
