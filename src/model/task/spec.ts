/**
 * What a run asks people, as data: what they see, who they are, what they may do, and by when.
 *
 * Owns the normal form that facts store, after templates are filled in and names are resolved. Never knows a person's permissions: those come
 * with the command.
 */
import type { Instant } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'

export type TaskType = 'approval' | 'input' | 'review' | 'decision'

/** Who acts, from the credential: `{ id: 'ana', kind: 'user', groups: ['sales'] }`. Only a `user` ever decides; `system` is the deadline itself. */
export interface Identity {
  /** The name that decisions are recorded under. */
  readonly id: string
  /** A person, a program, an agent, or the system itself. */
  readonly kind: 'user' | 'service' | 'agent' | 'system'
  /** The groups whose tasks they also get. */
  readonly groups: readonly string[]
}

export interface Assignees {
  readonly users: readonly string[]
  readonly groups: readonly string[]
}

/** The origin of a task: the inbox shows it as an icon. */
export type TaskOrigin = 'human' | 'tool_approval' | 'question' | 'escalation' | 'uncertain' | 'loop'

/** The engine acts on `returnsTo`, `emits` and the like; the state machine only stores them. */
export interface TaskAction {
  readonly name: string
  readonly label: string
  readonly requiresReason: boolean
  readonly terminal: boolean
  readonly nextState: ActionState
  /** Ids of items or sections; null: every item that the same submit does not reject, if the next state is approved. */
  readonly marksApproved: readonly string[] | null
  readonly requiredFields: readonly string[]
  /** JSON Schema that the fields must fit; null: anything. */
  readonly fieldsSchema: Json
  readonly emits: string | null
  /** Data of that event, with templates over the answer; null: the default data. */
  readonly eventPayload: Json
  readonly returnsTo: string | null
  /** What the person must type to confirm it. Absent: nothing. */
  readonly confirm?: string
  /** The warning that the person must acknowledge. Absent: none. */
  readonly warning?: string
}

export type ClosedByAction = 'approved' | 'rejected' | 'completed'
export const OPEN_STATUSES = ['pending', 'in_review', 'revision_requested'] as const
export type OpenStatus = (typeof OPEN_STATUSES)[number]
export type ActionState = ClosedByAction | OpenStatus
export type TaskStatus = ActionState | 'expired' | 'withdrawn'
export type ItemStatus = 'pending_review' | 'approved' | 'rejected' | 'edited'

export type SectionType = 'summary' | 'review_items' | 'preview' | 'editable'

export interface Section {
  readonly id: string
  readonly type: SectionType
  readonly title: string
  /** What a summary or a preview shows, and the document of an editable section. */
  readonly content: Json
  /** For review_items only. */
  readonly items: readonly SectionItem[]
  readonly editable: boolean
  /** JSON Schema that edited content must fit; null: anything. */
  readonly schema: Json
}

export interface SectionItem {
  readonly id: string
  readonly title: string
  readonly content: Json
}

export type Deadline = { readonly kind: 'after'; readonly ms: number } | { readonly kind: 'at'; readonly at: Instant }

/** Level 0 is the assignment itself; the others are reached by escalation, each with a deadline of its own. */
export interface Level {
  readonly to: Assignees
  readonly deadline: Deadline | null
}

export type Reminders =
  /** These durations before the deadline of the level, the longest first. */
  | { readonly kind: 'before'; readonly beforeMs: readonly number[] }
  /** Counted from the instant at which the level was reached. */
  | { readonly kind: 'every'; readonly everyMs: number; readonly startAfterMs: number; readonly max: number }

export interface Quorum {
  readonly approve: number
  readonly reject: number
}

export interface TaskSpec {
  readonly type: TaskType
  readonly origin: TaskOrigin
  /** The name of the handler or the step, which all tasks of one kind share. */
  readonly name: string
  readonly title: string
  readonly instructions: string
  /** Supporting information, shown next to the task. */
  readonly context: Json
  /** An agent's remarks: shown separately and marked, never part of what is consented to. */
  readonly remarks: string | null
  readonly priority: number
  /** The person who asked for it, if a person did. */
  readonly requester: string | null
  readonly sections: readonly Section[]
  readonly actions: readonly TaskAction[]
  readonly levels: readonly Level[]
  readonly reminders: Reminders | null
  /** Done by the system when a deadline passes: an action's name, `escalate` or `expire`. Null: stays open. */
  readonly autoAction: string | null
  readonly quorum: Quorum
  /** People who may not decide, at any level. */
  readonly excluded: readonly string[]
  /** The reason for this task, which other tasks may share: tasks with the same cause can be answered together. */
  readonly cause?: string
}

export const MAX_ITEMS = 1_000
export const MAX_REASSIGNS = 20
export const MAX_ESCALATIONS = 5
export const SYSTEM = 'system'
