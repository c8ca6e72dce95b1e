/**
 * Routes of the inbox beside the tasks themselves: the count of each view, the history of a task, and marks by a rule.
 *
 * Owns parsing and responses. The views and the rules for marks are in model/.
 */
import { identityOf, requireIdentity } from '#http/access/identity.ts'
import { MARK } from '#http/documents/tasks.ts'
import { PAGING, page, ref } from '#http/openapi/schema.ts'
import { body, type Handle, json, type Operation } from '#http/routes/route.ts'
import { readBody } from '#http/server/body.ts'
import { limitOf, positionOf } from '#http/server/query.ts'
import { tagOf } from '#http/server/version.ts'
import { happeningDocument, taskDetail } from '#http/wire/task.ts'
import { CODE, markOf, taskOf } from '#http/wire/task-body.ts'
import { readTaskFact } from '#model/kernel/fact-codec.ts'
import { taskHistory } from '#model/task/history.ts'
import { inboxesOf, viewCounts } from '#model/task/inbox-view.ts'

/** The most tasks that are read for the counts of the views. */
const MOST_SEEN = 1_000

const countViews: Handle = async ({ reader, tenant, tasks: { now } }, context) => {
  const who = identityOf(context)
  const addresses = who === null ? null : inboxesOf(who)
  const seen = await reader.inboxGlance({ tenant, addresses, now, most: MOST_SEEN })
  const { counts, more } = viewCounts(seen, who, { now, most: MOST_SEEN })
  return context.json({ ...counts, more })
}

/** Reads all facts of the task: unlike where a task is decided, a checkpoint does not replace the facts before it. */
const history: Handle = async ({ reader, tasks, tenant }, context, query) => {
  const { id, version } = await tasks.show(taskOf(context.req.param('id') ?? ''))
  const limit = limitOf(query)
  const after = positionOf(query) ?? 0
  const facts = await reader.facts(tenant, id, { after, limit })
  const items = taskHistory(facts.map(readTaskFact)).map(happeningDocument)
  const next = after + facts.length
  return context.json({ items, next_cursor: next < version && facts.length > 0 ? String(next) : null })
}

const mark: Handle = async ({ tasks }, context) => {
  const by = requireIdentity(context)
  const { found, ...changed } = await tasks.markWhere(
    taskOf(context.req.param('id') ?? ''),
    by,
    markOf(await readBody(context, { schema: MARK, code: CODE })),
  )
  const { items: marked, unclear } = found
  return context.json({ marked, unclear, task: taskDetail(changed, by) }, 200, { etag: tagOf(changed.version) })
}

export const inboxRoutes: readonly Operation[] = [
  {
    id: 'countInboxViews',
    method: 'get',
    path: '/api/tasks/views',
    access: 'viewer',
    summary: "How many tasks each view of the caller's inbox has, as far as 1,000",
    answers: { 200: json(ref('InboxViews')) },
    handle: countViews,
  },
  {
    id: 'listTaskHistory',
    method: 'get',
    path: '/api/tasks/{id}/history',
    access: 'viewer',
    summary: 'What has happened to it, oldest first',
    query: PAGING,
    answers: { 200: json(page(ref('TaskHappening'))) },
    problems: ['CURSOR_INVALID', 'NOT_FOUND'],
    handle: history,
  },
  {
    id: 'markItems',
    method: 'post',
    path: '/api/tasks/{id}/marks',
    access: 'decider',
    summary: "Marks the items that a rule finds, as the caller's drafts: nothing is decided by it",
    body: body(MARK),
    answers: { 200: json(ref('TaskMarks')) },
    problems: [
      'INPUT_INVALID',
      'EXPR_REJECTED',
      'AGENT_CANNOT_DECIDE',
      'TASK_FORBIDDEN',
      'SEPARATION_OF_DUTIES',
      'TASK_WITHDRAWN',
      'TASK_CLOSED',
    ],
    handle: mark,
  },
]
