/**
 * Tasks over HTTP: inboxes, one task as a person sees it, and everything a person may do to it.
 *
 * Owns parsing and answers. Who may do what is the task's own rule; GET never decides, and never marks as viewed.
 */
import type { Context } from 'hono'
import type { TaskChanged } from '../../engine/tasks.ts'
import { ERRORS } from '../../model/errors.ts'
import { isTaskId, LOCAL_TENANT, type TaskId } from '../../model/ids.ts'
import type { Identity } from '../../model/task-spec.ts'
import type { TaskQuery } from '../../ports/reader.ts'
import { optionalText, readBody, readOptionalBody } from '../body.ts'
import { demandIdentity, identityOf } from '../identity.ts'
import { problem } from '../problem.ts'
import { badCursor, choiceOf, limitOf, pageOf, type Query, readQuery } from '../query.ts'
import { findRun } from '../run-id.ts'
import type { Service } from '../service.ts'
import { bulkOf, CODE, DECISION, decisionOf, taskOf, untilOf } from '../task-body.ts'
import { taskDetail, taskDocument } from '../wire-task.ts'
import type { Handle, Route } from './route.ts'

const OPEN = ['pending', 'in_review', 'revision_requested'] as const
const CLOSED = ['approved', 'rejected', 'completed', 'expired', 'withdrawn'] as const
const STATUSES = ['open', 'closed', ...OPEN, ...CLOSED] as const
const TYPES = ['approval', 'input', 'review', 'decision'] as const
const ORDERS = ['newest', 'oldest', 'deadline'] as const
const PARAMETERS = ['status', 'type', 'run', 'order', 'claimed_by', 'all', 'limit', 'cursor']

const cursorOf = (query: Query): TaskId | null => {
  const text = query.get('cursor')
  if (text === undefined) return null
  if (!isTaskId(text)) throw badCursor(text)
  return text
}

const addressesOf = ({ id, groups }: Identity): readonly string[] => [
  `user:${id}`,
  ...groups.map((group) => `group:${group}`),
]

const isClosed = (status: string): boolean => status === 'closed' || CLOSED.some((word) => word === status)

/** A person who is named sees their own inbox, unless they ask for everybody's. */
const queryOf = async (service: Service, context: Context): Promise<TaskQuery> => {
  const query = readQuery(context, PARAMETERS)
  const who = identityOf(context)
  const isAll = choiceOf(query, 'all', ['true', 'false']) === 'true' || who === null
  const status = choiceOf(query, 'status', STATUSES) ?? 'open'
  const run = query.get('run')
  return {
    tenant: LOCAL_TENANT,
    isOpen: !isClosed(status),
    addresses: isAll ? null : addressesOf(who),
    viewer: isAll ? null : { user: who.id, now: service.tasks.now },
    status: status === 'open' || status === 'closed' ? null : status,
    type: choiceOf(query, 'type', TYPES),
    claimedBy: query.get('claimed_by') ?? null,
    run: run === undefined ? null : (await findRun(service.reader, run)).id,
    order: choiceOf(query, 'order', ORDERS) ?? 'newest',
    after: cursorOf(query),
    limit: limitOf(query),
  }
}

const list = async (service: Service, context: Context): Promise<Response> => {
  const query = await queryOf(service, context)
  const rows = await service.reader.tasks({ ...query, limit: query.limit + 1 })
  const { now } = service.tasks
  const shape = { item: (row: (typeof rows)[number]) => taskDocument(row, now), cursor: ({ id }: { id: string }) => id }
  return context.json(pageOf(rows, query.limit, shape))
}

const count = async (service: Service, context: Context): Promise<Response> => {
  readQuery(context, [])
  const who = identityOf(context)
  const counts = await service.reader.taskCounts(LOCAL_TENANT, who === null ? null : addressesOf(who))
  return context.json(Object.fromEntries(OPEN.map((status) => [status, counts.get(status) ?? 0])))
}

const idOf = (context: Context): TaskId => taskOf(context.req.param('id') ?? '')

const show = async (service: Service, context: Context): Promise<Response> => {
  readQuery(context, [])
  const look = await service.tasks.show(idOf(context))
  return context.json(taskDetail(look, identityOf(context)), 200, { etag: `"${look.version}"` })
}

type Act = (service: Service, context: Context, by: Identity) => Promise<TaskChanged>

/** Answers the task as it is afterwards. */
const act =
  (service: Service, does: Act): Handle =>
  async (context) => {
    readQuery(context, [])
    const by = demandIdentity(context)
    const changed = await does(service, context, by)
    const headers = { etag: `"${changed.version}"`, ...(changed.isRepeated && { 'idempotency-replayed': 'true' }) }
    return context.json(taskDetail(changed, by), 200, headers)
  }

const plain =
  (verb: 'view' | 'claim' | 'unclaim'): Act =>
  async ({ tasks }, context, by) => {
    await readOptionalBody(context, { known: [], code: CODE })
    return tasks[verb](idOf(context), by)
  }

const decide: Act = async ({ tasks }, context, by) => {
  const members = await readBody(context, { known: DECISION, code: CODE })
  return tasks.submit(idOf(context), by, decisionOf(members, context.req.header('idempotency-key') ?? null))
}

const handOn =
  (action: 'reassign' | 'escalate'): Act =>
  async ({ tasks }, context, by) => {
    const members = await readBody(context, { known: ['to', 'reason'], code: CODE })
    const key = context.req.header('idempotency-key') ?? null
    return tasks.submit(idOf(context), by, decisionOf({ ...members, action }, key))
  }

const saveDraft: Act = async ({ tasks }, context, by) => {
  const members = await readBody(context, { known: ['item', 'content'], code: CODE })
  const item = members['item'] === null ? null : (optionalText(members, 'item', CODE) ?? null)
  return tasks.saveDraft(idOf(context), by, { item, content: members['content'] ?? null })
}

const followUp: Act = async ({ tasks }, context, by) =>
  tasks.followUp(idOf(context), by, untilOf(await readBody(context, { known: ['until'], code: CODE })))

/** Each with its own verdict: the whole is neither done nor refused. */
const decideMany = async (service: Service, context: Context): Promise<Response> => {
  readQuery(context, [])
  const by = demandIdentity(context)
  const decisions = bulkOf(await readBody(context, { known: ['decisions'], code: CODE }))
  const outcomes = await service.tasks.submitMany(by, decisions)
  const items = outcomes.map((outcome) =>
    outcome.kind === 'done'
      ? { task: outcome.task, status: 200, state: outcome.changed.state.status }
      : { task: outcome.task, status: ERRORS[outcome.code].status, problem: problem(outcome.code, outcome.detail) },
  )
  return context.json({ items }, 207)
}

export const taskRoutes = (service: Service): readonly Route[] => {
  const at = '/api/tasks/:id'
  return [
    { path: '/api/tasks', get: (context) => list(service, context) },
    { path: '/api/tasks/counts', get: (context) => count(service, context) },
    { path: '/api/tasks/decisions', post: (context) => decideMany(service, context) },
    { path: at, get: (context) => show(service, context) },
    { path: `${at}/decision`, post: act(service, decide) },
    { path: `${at}/view`, post: act(service, plain('view')) },
    { path: `${at}/claim`, post: act(service, plain('claim')) },
    { path: `${at}/unclaim`, post: act(service, plain('unclaim')) },
    { path: `${at}/reassign`, post: act(service, handOn('reassign')) },
    { path: `${at}/escalate`, post: act(service, handOn('escalate')) },
    { path: `${at}/drafts`, patch: act(service, saveDraft) },
    { path: `${at}/follow-up`, post: act(service, followUp) },
  ]
}
