/**
 * Routes for tasks: inboxes, one task as a person sees it, and everything a person may do to it.
 *
 * Owns parsing and responses. Permissions are decided by the task; GET never decides, and never marks as viewed.
 */
import type { Context } from 'hono'
import type { TaskChanged } from '#engine/tasks/tasks.ts'
import { deciderOf, identityOf, requireIdentity } from '#http/access/identity.ts'
import { CLOSED, DECIDE, DECIDE_MANY, DELEGATION, FOLLOW_UP, OPEN, SAVE_DRAFT, TYPES } from '#http/documents/tasks.ts'
import { described, list as listOf, nothing, PAGING, page, record, ref, text, words } from '#http/openapi/schema.ts'
import { body, type Handle, json, type Operation, optionalBody } from '#http/routes/route.ts'
import { optionalText, readBody, readOptionalBody } from '#http/server/body.ts'
import { OutdatedView, problem } from '#http/server/problem.ts'
import { badCursor, choiceOf, limitOf, pageOf, type Query } from '#http/server/query.ts'
import { findRun } from '#http/server/run-id.ts'
import type { Service } from '#http/server/service.ts'
import { tagOf } from '#http/server/version.ts'
import { uuidOfWork } from '#http/server/work.ts'
import { MOST_COUNTED, taskCountsDocument } from '#http/wire/counts.ts'
import { taskDetail, taskDocument } from '#http/wire/task.ts'
import { bulkOf, CODE, decisionOf, draftRevisionOf, taskOf, untilOf } from '#http/wire/task-body.ts'
import { ERRORS, TrihandError } from '#model/kernel/errors.ts'
import { isTaskId, type TaskId } from '#model/kernel/ids.ts'
import { INBOX_VIEWS, inboxesOf, viewedTasks } from '#model/task/inbox-view.ts'
import type { Identity } from '#model/task/spec.ts'
import type { TaskQuery } from '#ports/reader.ts'

const STATUSES = ['open', 'closed', ...OPEN, ...CLOSED] as const
const ORDERS = ['newest', 'oldest', 'deadline'] as const
const BOOLEANS = ['true', 'false'] as const

const cursorOf = (query: Query): TaskId | null => {
  const text = query.get('cursor')
  if (text === undefined) return null
  if (!isTaskId(text)) throw badCursor(text)
  return text
}

const isClosed = (status: string): boolean => status === 'closed' || CLOSED.some((word) => word === status)

/** A caller with a name sees their own inbox, unless they ask for all tasks. */
const queryOf = async (service: Service, context: Context, query: Query): Promise<TaskQuery> => {
  const who = identityOf(context)
  const isAll = choiceOf(query, 'all', BOOLEANS) === 'true'
  const status = choiceOf(query, 'status', STATUSES) ?? 'open'
  const run = query.get('run')
  return {
    tenant: service.tenant,
    isOpen: !isClosed(status),
    ...viewedTasks(choiceOf(query, 'view', INBOX_VIEWS) ?? 'mine', isAll ? null : who, service.tasks.now),
    status: status === 'open' || status === 'closed' ? null : status,
    type: choiceOf(query, 'type', TYPES),
    claimedBy: query.get('claimed_by') ?? null,
    run: run === undefined ? null : (await findRun(service, run)).id,
    order: choiceOf(query, 'order', ORDERS) ?? 'newest',
    after: cursorOf(query),
    limit: limitOf(query),
  }
}

const list: Handle = async (service, context, given) => {
  const query = await queryOf(service, context, given)
  const rows = await service.reader.tasks({ ...query, limit: query.limit + 1 })
  const { now } = service.tasks
  const who = identityOf(context)
  const item = (row: (typeof rows)[number]) => taskDocument(row, now, who)
  const shape = { item, cursor: ({ id }: { id: string }) => id }
  return context.json(pageOf(rows, query.limit, shape))
}

const count: Handle = async (service, context) => {
  const who = identityOf(context)
  const addresses = who === null ? null : inboxesOf(who)
  return context.json(taskCountsDocument(await service.reader.taskCounts(service.tenant, addresses, MOST_COUNTED)))
}

const idOf = (context: Context): TaskId => taskOf(context.req.param('id') ?? '')

const show: Handle = async (service, context) => {
  const look = await service.tasks.show(idOf(context))
  return context.json(taskDetail(look, deciderOf(context)), 200, { etag: tagOf(look.version) })
}

type Act = (service: Service, context: Context, by: Identity) => Promise<TaskChanged>

/** Answers the task after the action. */
const act =
  (does: Act): Handle =>
  async (service, context) => {
    const by = requireIdentity(context)
    const changed = await does(service, context, by)
    const headers = { etag: tagOf(changed.version), ...(changed.isRepeated && { 'idempotency-replayed': 'true' }) }
    return context.json(taskDetail(changed, by), 200, headers)
  }

const plain =
  (verb: 'view' | 'claim' | 'unclaim'): Act =>
  async ({ tasks }, context, by) => {
    await readOptionalBody(context, { schema: nothing, code: CODE })
    return tasks[verb](idOf(context), by)
  }

const OUTDATED: readonly string[] = ['STALE_VIEW', 'DRAFTS_NEWER']

/** If the caller's view is outdated, the refusal contains the current task. */
const onView =
  (does: Act): Act =>
  async (service, context, by) => {
    try {
      return await does(service, context, by)
    } catch (error) {
      if (!(error instanceof TrihandError) || !OUTDATED.includes(error.code)) throw error
      throw new OutdatedView(error.code, error.detail, taskDetail(await service.tasks.show(idOf(context)), by))
    }
  }

const decide: Act = onView(async ({ tasks }, context, by) => {
  const members = await readBody(context, { schema: DECIDE, code: CODE })
  return tasks.submit(idOf(context), by, decisionOf(members, context.req.header('idempotency-key') ?? null))
})

const handOn =
  (action: 'reassign' | 'escalate'): Act =>
  async ({ tasks }, context, by) => {
    const members = await readBody(context, { schema: DELEGATION, code: CODE })
    const key = context.req.header('idempotency-key') ?? null
    return tasks.submit(idOf(context), by, decisionOf({ ...members, action }, key))
  }

const saveDraft: Act = onView(async ({ tasks }, context, by) => {
  const members = await readBody(context, { schema: SAVE_DRAFT, code: CODE })
  const item = members['item'] === null ? null : (optionalText(members, 'item', CODE) ?? null)
  const draftRevision = draftRevisionOf(members)
  return tasks.saveDraft(idOf(context), by, { item, content: members['content'] ?? null, draftRevision })
})

const followUp: Act = async ({ tasks }, context, by) =>
  tasks.followUp(idOf(context), by, untilOf(await readBody(context, { schema: FOLLOW_UP, code: CODE })))

/** Each decision has its own result: the request as a whole neither succeeds nor fails. */
const decideMany: Handle = async (service, context) => {
  const by = requireIdentity(context)
  const decisions = bulkOf(await readBody(context, { schema: DECIDE_MANY, code: CODE }), uuidOfWork(context) ?? null)
  const outcomes = await service.tasks.submitMany(by, decisions)
  const items = outcomes.map((outcome) =>
    outcome.kind === 'done'
      ? { task: outcome.task, status: 200, state: outcome.changed.state.status }
      : { task: outcome.task, status: ERRORS[outcome.code].status, problem: problem(outcome.code, outcome.detail) },
  )
  return context.json({ items }, 207)
}

const AT = '/api/tasks/{id}'

const REFUSALS = [
  'INPUT_INVALID',
  'AGENT_CANNOT_DECIDE',
  'TASK_FORBIDDEN',
  'TASK_WITHDRAWN',
  'TASK_CLOSED',
  'TASK_CLAIMED',
] as const

export const DECISIVE = [
  ...REFUSALS,
  'SEPARATION_OF_DUTIES',
  'STALE_VIEW',
  'DRAFTS_NEWER',
  'ESCALATION_EXHAUSTED',
  'ACTION_NOT_ALLOWED',
  'REASON_REQUIRED',
  'CONFIRMATION_REQUIRED',
  'WARNING_NOT_ACKNOWLEDGED',
  'FIELDS_REQUIRED',
  'MODIFICATION_INVALID',
  'IDEMPOTENCY_MISMATCH',
] as const

const command = (id: string, word: string, summary: string, does: Act): Operation => ({
  id,
  method: 'post',
  path: `${AT}/${word}`,
  access: 'decider',
  summary,
  body: optionalBody(nothing),
  answers: { 200: json(ref('TaskDetail')) },
  problems: REFUSALS,
  handle: act(does),
})

export const taskRoutes: readonly Operation[] = [
  {
    id: 'listTasks',
    method: 'get',
    path: '/api/tasks',
    access: 'viewer',
    summary: "An inbox: the caller's own, or everybody's with all=true",
    query: {
      status: words(STATUSES),
      type: ref('TaskType'),
      run: text,
      order: words(ORDERS),
      claimed_by: text,
      all: words(BOOLEANS),
      view: described('which of them; mine if nothing is said', words(INBOX_VIEWS)),
      ...PAGING,
    },
    answers: { 200: json(page(ref('TaskSummary'))) },
    problems: ['CURSOR_INVALID', 'NOT_FOUND', 'ID_AMBIGUOUS'],
    handle: list,
  },
  {
    id: 'countTasks',
    method: 'get',
    path: '/api/tasks/counts',
    access: 'viewer',
    summary: 'How many open tasks have each status',
    answers: { 200: json(ref('TaskCounts')) },
    handle: count,
  },
  {
    id: 'decideTasks',
    method: 'post',
    path: '/api/tasks/decisions',
    access: 'decider',
    summary: 'Decides many tasks, each with its own verdict',
    body: body(DECIDE_MANY),
    answers: { 207: json(record({ items: listOf(ref('TaskVerdict')) })) },
    problems: ['INPUT_INVALID', 'NOT_FOUND'],
    handle: decideMany,
  },
  {
    id: 'getTask',
    method: 'get',
    path: AT,
    access: 'viewer',
    summary: 'One task as the caller sees it',
    answers: { 200: json(ref('TaskDetail')), 304: null },
    handle: show,
  },
  {
    ...command('decideTask', 'decision', 'Decides it; the first valid decision wins', decide),
    isKept: false,
    body: body(DECIDE),
    problems: DECISIVE,
  },
  command('viewTask', 'view', 'Says that the caller has seen it', plain('view')),
  command('claimTask', 'claim', 'Says that the caller is at it', plain('claim')),
  command('unclaimTask', 'unclaim', 'Leaves it to others again', plain('unclaim')),
  {
    ...command('reassignTask', 'reassign', 'Hands it to somebody else', handOn('reassign')),
    isKept: false,
    body: body(DELEGATION),
    problems: DECISIVE,
  },
  {
    ...command('escalateTask', 'escalate', 'Hands it to the next level', handOn('escalate')),
    isKept: false,
    body: body(DELEGATION),
    problems: DECISIVE,
  },
  {
    ...command('saveDraft', 'drafts', "Keeps the caller's draft of an item, or of the whole", saveDraft),
    method: 'patch',
    body: body(SAVE_DRAFT),
    problems: [...REFUSALS, 'MODIFICATION_INVALID', 'DRAFTS_NEWER'],
  },
  {
    ...command('followUpTask', 'follow-up', "Puts it off in the caller's inbox", followUp),
    body: body(FOLLOW_UP),
    problems: [...REFUSALS, 'INSTANT_WITHOUT_ZONE'],
  },
]
