/**
 * A task on the wire: a row of the inbox, and the full task as the person who decides must see it.
 *
 * Owns both documents. Never decides who may see or do what.
 */
import type { TaskLook } from '#engine/tasks/tasks.ts'
import type {
  TaskAction as ActionDocument,
  TaskHappening as HappeningDocument,
  TaskDetail,
  TaskSummary as TaskDocument,
  TaskSection,
} from '#http/openapi/api.ts'
import type { Instant } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { humanOutcomeMembers } from '#model/run/outcome.ts'
import type { OpenTask, TaskItem } from '#model/task/fact.ts'
import type { TaskHappening } from '#model/task/history.ts'
import { draftRevision } from '#model/task/newer-drafts.ts'
import { votersOf } from '#model/task/quorum.ts'
import type { Identity, Section, TaskAction } from '#model/task/spec.ts'
import { allowedActions, taskAnswer } from '#model/task/view.ts'
import type { TaskSummary } from '#ports/reader.ts'
import { isoTime, isoTimeOrNull } from './time.ts'

interface Summary {
  readonly decision?: string | null
  readonly decidedBy?: string | null
  readonly closedAt?: Instant | null
  readonly level?: number
  readonly items?: { readonly total?: number; readonly edited?: number }
  readonly origin?: TaskDocument['origin']
  readonly requester?: string | null
  readonly escalationReason?: string | null
  readonly viewing?: { readonly by: string; readonly until: Instant } | null
  readonly votes?: number
  readonly cause?: string
}

const viewingOf = ({ viewing }: Summary, now: Instant, viewer: Identity | null): string | null =>
  viewing == null || viewing.until <= now || viewing.by === viewer?.id ? null : viewing.by

export const taskDocument = (task: TaskSummary, now: Instant, viewer: Identity | null): TaskDocument => {
  const summary = task.summary as Summary
  return {
    id: task.id,
    run_id: task.run,
    step_id: task.step,
    type: task.type as TaskDocument['type'],
    title: task.title,
    status: task.status as TaskDocument['status'],
    is_open: task.isOpen,
    assignees: task.addresses,
    claimed_by: task.claimedBy,
    priority: task.priority,
    deadline: isoTimeOrNull(task.deadlineAt),
    is_overdue: task.isOpen && task.deadlineAt !== null && task.deadlineAt < now,
    created_at: isoTime(task.createdAt),
    updated_at: isoTime(task.updatedAt),
    decision: summary.decision ?? null,
    decided_by: summary.decidedBy ?? null,
    decided_at: isoTimeOrNull(summary.closedAt ?? null),
    level: summary.level ?? 0,
    items: summary.items?.total ?? 0,
    edited: summary.items?.edited ?? 0,
    origin: summary.origin ?? 'human',
    requester: summary.requester ?? null,
    escalation_reason: summary.escalationReason ?? null,
    viewing: viewingOf(summary, now, viewer),
    votes: summary.votes ?? 0,
    cause: summary.cause ?? null,
  }
}

const sectionDocument = ({ id, type, title, content, editable }: Section, items: readonly TaskItem[]): TaskSection => ({
  id,
  type,
  title,
  content: type === 'editable' ? null : content,
  is_editable: editable,
  items: items
    .filter(({ section }) => section === id)
    .map(({ id: item, title: heading, status, content: own }) => ({ id: item, title: heading, status, content: own })),
})

const actionDocument = (action: TaskAction): ActionDocument => ({
  name: action.name,
  label: action.label,
  requires_reason: action.requiresReason,
  required_fields: action.requiredFields,
  fields_schema: action.fieldsSchema,
  is_terminal: action.terminal,
  emits: action.emits,
  confirm: action.confirm ?? null,
  warning: action.warning ?? null,
})

type Fields = NonNullable<TaskDetail['end']>['fields']

const fieldsOf = (fields: Json): Fields =>
  typeof fields === 'object' && fields !== null && !Array.isArray(fields) ? (fields as Fields) : {}

const endOf = ({ state }: TaskLook): TaskDetail['end'] => {
  if (state.kind === 'open') return null
  const answer = taskAnswer(state)
  return answer === null ? null : { ...humanOutcomeMembers(answer), fields: fieldsOf(answer.fields) }
}

const draftsOf = ({ drafts, revision }: OpenTask, viewer: Identity | null): TaskDetail['drafts'] =>
  drafts
    .filter(({ by, content }) => by === viewer?.id && content !== null)
    .map(({ item, content, revision: made }) => ({ item, content, is_stale: made < revision }))

export const taskDetail = (look: TaskLook, viewer: Identity | null): TaskDetail => {
  const { state } = look
  const task = state.kind === 'open' ? state : state.task
  const { spec } = task
  const end = state.kind === 'closed' && state.end.kind === 'decided' ? state.end : null
  return {
    ...{ id: look.id, run_id: task.run, step_id: task.step, handler: look.handler, version: look.version },
    ...{ type: spec.type, name: spec.name, title: spec.title, instructions: spec.instructions },
    ...{ context: spec.context, remarks: spec.remarks, status: state.status, is_open: state.kind === 'open' },
    shown_hash: task.hash,
    revision: task.revision,
    level: task.level,
    deadline: isoTimeOrNull(task.deadlineAt),
    assignees: task.asked,
    origin: spec.origin,
    cause: spec.cause ?? null,
    requester: spec.requester,
    priority: spec.priority,
    created_at: isoTime(task.openedAt),
    escalation: task.escalation,
    quorum: spec.quorum,
    put_off_until: isoTimeOrNull(task.followUps.find(({ by }) => by === viewer?.id)?.until ?? null),
    claimed_by: task.claimedBy,
    viewed_by: task.viewedBy,
    sections: spec.sections.map((section) => sectionDocument(section, task.items)),
    actions: spec.actions.map(actionDocument),
    allowed_actions: viewer === null ? [] : allowedActions(state, viewer).map(({ name }) => name),
    drafts: draftsOf(task, viewer),
    draft_revision: viewer === null ? 0 : draftRevision(task, viewer.id),
    votes: task.votes.map(({ by, action }) => ({ by, action })),
    may_vote: state.kind === 'open' ? votersOf(state) : { users: [], groups: [], except: [] },
    end: endOf(look),
    approved: end?.approved ?? [],
    rejected: end?.rejected ?? [],
  }
}

export const happeningDocument = ({ at, ...rest }: TaskHappening): HappeningDocument => ({ at: isoTime(at), ...rest })
