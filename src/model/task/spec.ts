/**
 * What a run asks of people, as data: what they see, who they are, what they may do, and by when.
 *
 * Owns the normal form that facts keep, after templates are filled in and names are resolved. Never knows a person's rights:
 * those come with the command.
 */
import type { Instant } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'

export type TaskType = 'approval' | 'input' | 'review' | 'decision'

/** Who acts, as the credential says. Only a `user` ever decides; `system` is the deadline itself. */
export interface Identity {
  readonly id: string
  readonly kind: 'user' | 'service' | 'agent' | 'system'
  readonly groups: readonly string[]
}

export interface Assignees {
  readonly users: readonly string[]
  readonly groups: readonly string[]
}

/** Where a task comes from: what the inbox shows as its icon. */
export type TaskOrigin = 'human' | 'tool_approval' | 'question' | 'escalation' | 'uncertain' | 'loop'

/** `returns_to`, `emits` and the like are the engine's to act on; the machine only keeps them. */
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
  /** Data of that event, with templates over the answer; null: the usual data. */
  readonly eventPayload: Json
  readonly returnsTo: string | null
  /** What the person must type to confirm it. Absent: nothing. */
  readonly confirm?: string
  /** What the person must have acknowledged, in words. Absent: nothing. */
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
  /** Of review_items only. */
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
  /** So long before the deadline of the level, the longest first. */
  | { readonly kind: 'before'; readonly beforeMs: readonly number[] }
  /** Counted from reaching the level. */
  | { readonly kind: 'every'; readonly everyMs: number; readonly startAfterMs: number; readonly max: number }

export interface Quorum {
  readonly approve: number
  readonly reject: number
}

export interface TaskSpec {
  readonly type: TaskType
  readonly origin: TaskOrigin
  /** The handler or the step's name: what one kind of task has in common. */
  readonly name: string
  readonly title: string
  readonly instructions: string
  /** Supporting information, shown beside. */
  readonly context: Json
  /** What an agent says about it: shown apart and marked, never part of what is consented to. */
  readonly remarks: string | null
  readonly priority: number
  /** Who wanted it, if a person did. */
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
  /** What made this task necessary and may have made others so: they can be answered together. */
  readonly cause?: string
}

export const MAX_ITEMS = 1_000
export const MAX_REASSIGNS = 20
export const MAX_ESCALATIONS = 5
export const SYSTEM = 'system'
