/**
 * The data types of a task: its facts, its commands and its states.
 *
 * Owns the types only; the rules are in task.ts and the files next to it. All state is plain JSON: a checkpoint stores all of it.
 */
import type { Cause } from '#model/event/event.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type {
  Assignees,
  ClosedByAction,
  Identity,
  ItemStatus,
  OpenStatus,
  Section,
  TaskAction,
  TaskSpec,
  TaskStatus,
} from './spec.ts'

/** A part that is decided on its own: an item of review_items, or the one document of an editable section. */
export interface TaskItem {
  readonly id: string
  readonly section: string
  readonly kind: 'item' | 'document'
  readonly title: string
  readonly content: Json
  readonly hash: string
  readonly status: ItemStatus
}

/** A change of one item: its new content, the patch from the old content (RFC 6902), and the hash that a consent is bound to. */
export interface Edit {
  readonly item: string
  readonly content: Json
  readonly patch: Json
  readonly hash: string
}

/** One person's decision while a quorum is not reached. */
export interface Vote {
  readonly by: string
  readonly at: Instant
  readonly action: string
  readonly outcome: ClosedByAction
  readonly hash: string
  readonly approved: readonly string[]
  readonly rejected: readonly string[]
  readonly reason: string | null
}

/** Input that a person has begun and not submitted: for the task as a whole (`item` null) or one item. */
export interface TaskDraft {
  readonly by: string
  readonly item: string | null
  /** Null: discarded. Kept, so that another tab of the same person learns of it. */
  readonly content: Json
  readonly savedAt: Instant
  /** The revision that it was made on: a draft of an older revision is stale. */
  readonly revision: number
  /** How many drafts its author had saved, this one included. Absent in checkpoints of older programs: before all others. */
  readonly saved?: number
}

/** A person's mark on an item before they submit; null: none yet. */
export type MarkVerdict = 'approve' | 'reject' | null

/** A request with an idempotency key, and the hash of its body. */
export interface RequestKey {
  readonly key: string
  readonly hash: string
}

type At = { readonly at: Instant }
type By = At & { readonly by: string }
type Asked = By & { readonly request: RequestKey | null }

/** What people see of a task in addition to its sections. */
export type ShownBeside = Pick<TaskSpec, 'title' | 'instructions' | 'context'>

export type TaskFact =
  | (At & {
      readonly type: 'task.opened'
      readonly run: RunId
      readonly step: string
      readonly spec: TaskSpec
      readonly items: readonly TaskItem[]
      readonly hash: string
      readonly deadlineAt: Instant | null
      readonly cause?: Cause
    })
  /** `first`: this person has not seen the task before. */
  | (By & { readonly type: 'task.viewed'; readonly first: boolean })
  | (By & { readonly type: 'task.claimed' })
  | (By & { readonly type: 'task.unclaimed' })
  /** Null content discards the draft. */
  | (By & { readonly type: 'task.draft_saved'; readonly item: string | null; readonly content: Json })
  | (By & { readonly type: 'task.follow_up_set'; readonly until: Instant | null })
  | (Asked & { readonly type: 'task.reassigned'; readonly to: Assignees; readonly reason: string | null })
  | (Asked & {
      readonly type: 'task.escalated'
      readonly level: number
      readonly to: Assignees
      readonly reason: string
      readonly deadlineAt: Instant | null
    })
  | (At & { readonly type: 'task.reminded'; readonly level: number; readonly n: number })
  | (At & { readonly type: 'task.timed_out'; readonly level: number })
  | (By & {
      readonly type: 'task.edited'
      readonly edits: readonly Edit[]
      readonly previousHash: string
      readonly hash: string
    })
  | (Asked & { readonly type: 'task.voted' } & Omit<Vote, 'by' | 'at'>)
  /** An action that leaves the task open, as its author declared it. */
  | (Asked & {
      readonly type: 'task.acted'
      readonly action: string
      readonly status: OpenStatus
      readonly reason: string | null
      readonly fields: Json
    })
  | (Asked & {
      readonly type: 'task.revision_requested'
      readonly action: string
      readonly reason: string | null
      readonly fields: Json
    })
  | (At & {
      readonly type: 'task.revised'
      readonly revision: number
      readonly sections: readonly Section[]
      readonly items: readonly TaskItem[]
      readonly hash: string
      /** Other content that is shown; absent: unchanged. */
      readonly shown?: ShownBeside
      /** Absent: unchanged. */
      readonly actions?: readonly TaskAction[]
    })
  | (Asked & { readonly type: 'task.decided' } & Omit<Verdict, 'by' | 'at'>)
  | (At & { readonly type: 'task.expired' })
  | (At & { readonly type: 'task.withdrawn'; readonly reason: string })
  | (At & { readonly type: 'task.checkpointed'; readonly state: TaskState })

export type TaskFactType = TaskFact['type']

/** How a person, or the system at a deadline, closed a task. */
export interface Verdict {
  readonly by: string
  readonly at: Instant
  readonly action: string
  readonly status: ClosedByAction
  readonly reason: string | null
  readonly fields: Json
  /** The hash of the content that was consented to, edits included. */
  readonly hash: string
  readonly approved: readonly string[]
  readonly rejected: readonly string[]
  /** The person acknowledged the warning of the action. */
  readonly acknowledged?: true
}

/** What a decision needs from outside. `misfit` returns null if the value fits the schema, else what does not fit. */
export interface TaskWorld {
  readonly digest: (text: string) => string
  readonly misfit: (schema: Json, value: Json) => string | null
  /** The RFC 6902 patch from one value to another. */
  readonly diff: (before: Json, after: Json) => Json
}

/** The choice that is submitted for one item. `modifications` is its whole new content; absent: unchanged. */
export interface ItemChoice {
  readonly status: 'approved' | 'rejected' | 'edited'
  readonly modifications?: Json
}

/** A new assignee of a task, with their kind: an agent is refused, not taken for a person. */
export interface Addressee {
  readonly id: string
  readonly kind: 'user' | 'group' | 'service' | 'agent'
}

type Now = { readonly now: Instant }
type Worldly = Now & { readonly world: TaskWorld }
type Personal = Now & { readonly by: Identity }

export interface Submit extends Worldly, Personal {
  readonly type: 'decide_task'
  readonly action: string
  readonly reason: string | null
  readonly fields: { readonly [field: string]: Json }
  readonly items: { readonly [item: string]: ItemChoice }
  /** The hash of what the person saw. */
  readonly shownHash: string | null
  /** The draft revision that the person saw; null: the client does not say. */
  readonly draftsSeen: number | null
  /** For a reassignment: the new assignees. */
  readonly to: readonly Addressee[]
  /** What the person typed to confirm the action. */
  readonly confirm?: string | null
  /** Whether the person has acknowledged the warning of the action. */
  readonly acknowledged?: boolean
  readonly request: RequestKey | null
}

export type TaskCommand =
  | (Worldly & {
      readonly type: 'open_task'
      readonly run: RunId
      readonly step: string
      readonly spec: TaskSpec
      /** The cause of the events that the task emits, until a person acts. */
      readonly cause?: Cause
    })
  | (Personal & { readonly type: 'view_task' })
  | (Personal & { readonly type: 'claim_task' })
  | (Personal & { readonly type: 'unclaim_task' })
  | (Personal & {
      readonly type: 'save_draft'
      readonly item: string | null
      readonly content: Json
      /** The draft revision that it was written on; absent: it replaces any draft. */
      readonly draftsSeen?: number | null
    })
  /** The command contains the items that a rule found. */
  | (Personal & { readonly type: 'mark_items'; readonly items: readonly string[]; readonly verdict: MarkVerdict })
  | (Personal & { readonly type: 'set_follow_up'; readonly until: Instant | null })
  | Submit
  /** The run submits changed content: a new revision. */
  | (Worldly & {
      readonly type: 'revise_task'
      readonly sections: readonly Section[]
      readonly shown?: ShownBeside
      readonly actions?: readonly TaskAction[]
    })
  | (Now & { readonly type: 'pass_time' })
  | (Now & { readonly type: 'withdraw_task'; readonly reason: string })
  | (Now & { readonly type: 'checkpoint_task' })

export interface OpenTask {
  readonly kind: 'open'
  readonly run: RunId
  readonly step: string
  readonly spec: TaskSpec
  readonly cause: Cause | null
  readonly openedAt: Instant
  readonly status: OpenStatus
  readonly revision: number
  /** Who asked for a revision, when and why; null: no revision is awaited. */
  readonly awaited: {
    readonly at: Instant
    readonly by: string
    readonly action: string
    readonly reason: string | null
  } | null
  readonly items: readonly TaskItem[]
  /** Every change since this revision was submitted. */
  readonly edits: readonly (Edit & { readonly by: string })[]
  readonly hash: string
  /** The people who are asked now. */
  readonly asked: Assignees
  /** The people who may decide: those asked, and those of the levels below; a reassignment replaces them all. */
  readonly deciders: Assignees
  readonly level: number
  readonly escalation: { readonly by: string; readonly reason: string } | null
  readonly reachedAt: Instant
  readonly deadlineAt: Instant | null
  /** The deadline of this level has passed, and a fact has recorded it. */
  readonly timedOut: boolean
  /** The number of the last reminder of this level. */
  readonly reminded: number
  readonly reassigned: number
  readonly claimedBy: string | null
  /** The soft lock: a person is looking at the task. It blocks no one. */
  readonly viewing: { readonly by: string; readonly until: Instant } | null
  readonly viewedBy: readonly string[]
  readonly drafts: readonly TaskDraft[]
  readonly followUps: readonly { readonly by: string; readonly until: Instant }[]
  readonly votes: readonly Vote[]
  /** The last requests that had a key. */
  readonly requests: readonly RequestKey[]
}

export type TaskEnd =
  | (Verdict & { readonly kind: 'decided' })
  | { readonly kind: 'expired'; readonly at: Instant }
  | { readonly kind: 'withdrawn'; readonly at: Instant; readonly reason: string }

export interface ClosedTask {
  readonly kind: 'closed'
  readonly status: Exclude<TaskStatus, OpenStatus>
  /** The task when it closed, with the final status of each item. */
  readonly task: OpenTask
  readonly end: TaskEnd
}

export type TaskState = { readonly kind: 'none' } | OpenTask | ClosedTask
