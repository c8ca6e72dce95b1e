/**
 * A task on the wire: a row of the inbox, and the whole of it as the person who decides must see it.
 *
 * Owns both documents and what is read of a decision. Never decides who may see or do what.
 */
import type { TaskLook } from '../engine/tasks.ts'
import type { Instant } from '../model/ids.ts'
import type { Json } from '../model/json.ts'
import type { OpenTask, TaskItem } from '../model/task-fact.ts'
import type { Identity, Section, TaskAction } from '../model/task-spec.ts'
import { allowedActions } from '../model/task-view.ts'
import type { TaskSummary } from '../ports/reader.ts'
import { isoTime, isoTimeOrNull } from './wire-time.ts'

export interface TaskDocument {
  readonly id: string
  readonly run_id: string
  readonly step_id: string
  readonly type: string
  readonly title: string
  readonly status: string
  readonly is_open: boolean
  /** `user:ana`, `group:editors`. */
  readonly assignees: readonly string[]
  readonly claimed_by: string | null
  readonly priority: number
  readonly deadline: string | null
  readonly is_overdue: boolean
  readonly created_at: string
  readonly updated_at: string
  readonly decision: string | null
  readonly decided_by: string | null
  readonly level: number
  readonly items: number
}

interface Summary {
  readonly decision?: string | null
  readonly decidedBy?: string | null
  readonly level?: number
  readonly items?: { readonly total?: number }
}

export const taskDocument = (task: TaskSummary, now: Instant): TaskDocument => {
  const summary = task.summary as Summary
  return {
    id: task.id,
    run_id: task.run,
    step_id: task.step,
    type: task.type,
    title: task.title,
    status: task.status,
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
    level: summary.level ?? 0,
    items: summary.items?.total ?? 0,
  }
}

export interface TaskDetail {
  readonly id: string
  readonly run_id: string
  readonly step_id: string
  readonly handler: string
  readonly version: number
  readonly type: string
  readonly name: string
  readonly title: string
  readonly instructions: string
  readonly context: Json
  /** What an agent says about it; not part of what is consented to. */
  readonly remarks: string | null
  readonly status: string
  readonly is_open: boolean
  /** What a decision must name. */
  readonly shown_hash: string
  readonly revision: number
  readonly level: number
  readonly deadline: string | null
  readonly assignees: { readonly users: readonly string[]; readonly groups: readonly string[] }
  readonly claimed_by: string | null
  readonly viewed_by: readonly string[]
  readonly sections: readonly SectionDocument[]
  readonly actions: readonly ActionDocument[]
  /** Those that the caller may take now. */
  readonly allowed_actions: readonly string[]
  /** The caller's own, not submitted yet. */
  readonly drafts: readonly { readonly item: string | null; readonly content: Json; readonly is_stale: boolean }[]
  readonly votes: readonly { readonly by: string; readonly action: string }[]
  readonly end: {
    readonly decision: string
    readonly by: string | null
    readonly at: string
    readonly reason: string | null
  } | null
  readonly approved: readonly string[]
  readonly rejected: readonly string[]
}

interface SectionDocument {
  readonly id: string
  readonly type: string
  readonly title: string
  readonly content: Json
  readonly is_editable: boolean
  readonly items: readonly {
    readonly id: string
    readonly title: string
    readonly status: string
    readonly content: Json
  }[]
}

interface ActionDocument {
  readonly name: string
  readonly label: string
  readonly requires_reason: boolean
  readonly required_fields: readonly string[]
  readonly is_terminal: boolean
}

const sectionDocument = (
  { id, type, title, content, editable }: Section,
  items: readonly TaskItem[],
): SectionDocument => ({
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
  is_terminal: action.terminal,
})

const endOf = ({ state }: TaskLook): TaskDetail['end'] => {
  if (state.kind === 'open') return null
  const { end } = state
  const at = isoTime(end.at)
  if (end.kind === 'decided') return { decision: end.action, by: end.by, at, reason: end.reason }
  return { decision: end.kind, by: null, at, reason: end.kind === 'withdrawn' ? end.reason : null }
}

const draftsOf = ({ drafts, revision }: OpenTask, viewer: Identity | null): TaskDetail['drafts'] =>
  drafts
    .filter(({ by }) => by === viewer?.id)
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
    claimed_by: task.claimedBy,
    viewed_by: task.viewedBy,
    sections: spec.sections.map((section) => sectionDocument(section, task.items)),
    actions: spec.actions.map(actionDocument),
    allowed_actions: viewer === null ? [] : allowedActions(state, viewer).map(({ name }) => name),
    drafts: draftsOf(task, viewer),
    votes: task.votes.map(({ by, action }) => ({ by, action })),
    end: endOf(look),
    approved: end?.approved ?? [],
    rejected: end?.rejected ?? [],
  }
}
