/**
 * Views of a task: the answer for the waiting step, the row for the inbox, the actions that a person may perform.
 *
 * Owns these three shapes. Never formats: wire names are translated at the boundary.
 */
import type { Instant, RunId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import { humanOutcomeMembers } from '#model/run/outcome.ts'
import type { OpenTask, TaskEnd, TaskItem, TaskState } from './fact.ts'
import { forbid } from './rights.ts'
import {
  type Assignees,
  type Identity,
  type ItemStatus,
  SYSTEM,
  type TaskAction,
  type TaskOrigin,
  type TaskStatus,
  type TaskType,
} from './spec.ts'

export interface AnsweredItem {
  readonly id: string
  readonly section: string
  readonly status: ItemStatus
  /** The content that was consented to, edits included, and its hash. */
  readonly content: Json
  readonly hash: string
}

/** The answer with which the run continues. An open task has an answer only while it waits for a revision. */
export interface TaskAnswer {
  readonly status: TaskStatus
  /** The action, or `expired`, `withdrawn`. */
  readonly decision: string
  /** New content by item; null: nothing was changed. */
  readonly modifications: { readonly [item: string]: Json } | null
  readonly feedback: string | null
  readonly fields: Json
  readonly decidedBy: string | null
  readonly decidedAt: Instant
  /** Every person who took part: voted, edited, decided. Separation of duties in other steps uses this list. */
  readonly deciders: readonly string[]
  readonly approved: readonly string[]
  readonly rejected: readonly string[]
  /** Some items were approved, not all. */
  readonly partial: boolean
  readonly items: readonly AnsweredItem[]
  readonly hash: string
  readonly revision: number
  /** The person acknowledged the warning of the action. */
  readonly acknowledged?: true
}

const answered = ({ id, section, status, content, hash }: TaskItem): AnsweredItem => ({
  id,
  section,
  status,
  content,
  hash,
})

const modificationsOf = ({ edits }: OpenTask): TaskAnswer['modifications'] =>
  edits.length === 0 ? null : Object.fromEntries(edits.map(({ item, content }) => [item, content]))

const peopleIn = ({ edits, votes }: OpenTask, last: string | null): readonly string[] => {
  const all = new Set([...edits, ...votes].map(({ by }) => by))
  return last === null || last === SYSTEM ? [...all] : [...all.add(last)]
}

const common = (task: OpenTask): Pick<TaskAnswer, 'modifications' | 'items' | 'hash' | 'revision'> => ({
  modifications: modificationsOf(task),
  items: task.items.map(answered),
  hash: task.hash,
  revision: task.revision,
})

const UNDECIDED = { fields: {}, approved: [], rejected: [], partial: false } as const

const endedAnswer = (status: TaskStatus, task: OpenTask, end: TaskEnd): TaskAnswer => {
  if (end.kind !== 'decided') {
    const feedback = end.kind === 'withdrawn' ? end.reason : null
    return {
      ...common(task),
      ...UNDECIDED,
      status,
      decision: end.kind,
      feedback,
      decidedBy: null,
      decidedAt: end.at,
      deciders: [],
    }
  }
  const { action, reason, fields, by, at, approved, rejected } = end
  const reviewed = task.items.filter(({ kind }) => kind === 'item').length
  const partial = approved.length > 0 && approved.length < reviewed
  const deciders = peopleIn(task, by)
  const verdict = { decision: action, feedback: reason, fields, decidedBy: by, decidedAt: at, deciders }
  const warned = end.acknowledged === true ? { acknowledged: true as const } : {}
  return { ...common(task), status, ...verdict, approved, rejected, partial, ...warned }
}

/** Null: the run keeps waiting. */
export const taskAnswer = (state: TaskState): TaskAnswer | null => {
  if (state.kind === 'closed') return endedAnswer(state.status, state.task, state.end)
  if (state.kind === 'none' || state.awaited === null) return null
  const { action, reason, by, at } = state.awaited
  const deciders = peopleIn(state, by)
  const asked = { decision: action, feedback: reason, decidedBy: by, decidedAt: at, deciders }
  return { ...common(state), ...UNDECIDED, status: state.status, ...asked }
}

export interface InboxRow {
  readonly run: RunId
  readonly step: string
  readonly name: string
  readonly type: TaskType
  readonly origin: TaskOrigin
  readonly title: string
  readonly status: TaskStatus
  readonly isOpen: boolean
  readonly priority: number
  /** The people who are asked now. */
  readonly asked: Assignees
  /** The people who may decide. */
  readonly deciders: Assignees
  readonly claimedBy: string | null
  readonly requester: string | null
  readonly level: number
  readonly escalationReason: string | null
  readonly openedAt: Instant
  readonly deadlineAt: Instant | null
  /** Its deadline has passed, as far as the ledger knows; a reader with a clock compares `deadlineAt`. */
  readonly timedOut: boolean
  readonly revision: number
  readonly items: { readonly total: number; readonly edited: number }
  readonly viewing: OpenTask['viewing']
  readonly followUps: OpenTask['followUps']
  readonly votes: number
  readonly decision: string | null
  readonly decidedBy: string | null
  readonly closedAt: Instant | null
  readonly cause?: string
}

/** Null: there is no task. */
export const inboxRow = (state: TaskState): InboxRow | null => {
  if (state.kind === 'none') return null
  const open = state.kind === 'open' ? state : state.task
  const end = state.kind === 'open' ? null : state.end
  const { spec, run, step, asked, deciders, claimedBy, level, openedAt, deadlineAt, timedOut, revision } = open
  const { name, type, origin, title, priority, requester } = spec
  return {
    ...{ run, step, name, type, origin, title, priority, requester },
    ...{ asked, deciders, claimedBy, level, openedAt, deadlineAt, timedOut, revision },
    status: state.status,
    isOpen: end === null,
    escalationReason: open.escalation?.reason ?? (origin === 'escalation' ? spec.instructions : null),
    items: { total: open.items.length, edited: open.items.filter(({ status }) => status === 'edited').length },
    viewing: end === null ? open.viewing : null,
    followUps: open.followUps,
    votes: open.votes.length,
    decision: end?.kind === 'decided' ? end.action : (end?.kind ?? null),
    decidedBy: end?.kind === 'decided' ? end.by : null,
    closedAt: end?.at ?? null,
    ...(spec.cause !== undefined && { cause: spec.cause }),
  }
}

/**
 * Returns the actions that this identity may perform now: the page's buttons. Empty for agents, strangers and excluded people, and once the task
 * is closed.
 */
export const allowedActions = (state: TaskState, by: Identity): readonly TaskAction[] => {
  if (state.kind !== 'open' || state.status === 'revision_requested' || forbid(state, by) !== null) return []
  const { spec, level, votes } = state
  const hasVoted = votes.some((vote) => vote.by === by.id)
  return spec.actions.filter(({ name, terminal }) => {
    if (name === 'escalate') return level + 1 < spec.levels.length
    return !terminal || !hasVoted || name === 'edit'
  })
}

/** Returns the data of the event that an action emits, under wire names. */
export const decisionData = (bundle: string, answer: TaskAnswer): Json => ({
  bundle_id: bundle,
  ...humanOutcomeMembers(answer),
  approved: answer.approved,
  rejected: answer.rejected,
  deciders: answer.deciders,
  partial: answer.partial,
  fields: answer.fields,
})
