/**
 * The options with which an author asks people: in code, in a handler's definition or in a manifest.
 *
 * Owns the options only. manifest/human/humans.ts makes the normal form, with defaults and refusals.
 */
import type { Json } from '#model/kernel/json.ts'
import type { Quorum, SectionType, TaskType } from './spec.ts'

/** `30s`, `1h30m`, `P1D`, or milliseconds as a number. */
type Duration = string | number

/** One thing that people may decide: `{ name: 'postpone', label: 'Postpone', requiresReason: true, emits: 'lead.postponed' }`. */
export interface ActionSource {
  /** Its name: a built-in one (`approve`, `reject`, `edit`, `respond`, `reassign`, `request_edit`, `escalate`), or one of your own. */
  readonly name: string
  /** What its button says. Default: the label of the built-in action, else its name. */
  readonly label?: string
  /** True: the person must give a reason. Default: as the built-in action; false for one of your own. */
  readonly requiresReason?: boolean
  /** True: the action ends the task. Default: true. */
  readonly terminal?: boolean
  /**
   * The task's state after it: `approved`, `rejected` or `completed` if it ends the task, else `pending`, `in_review` or `revision_requested`.
   * Default: `completed`, or `approved` if `marksApproved` is true.
   */
  readonly nextState?: string
  /** The event that it sends. Default: none. */
  readonly emitsEvent?: string
  /** The same as `emitsEvent`, in short. */
  readonly emits?: string
  /** The data of that event, with templates over `task` and `payload`. Default: what the person answered. */
  readonly eventPayload?: Json
  /** JSON Schema of the fields that this action asks for. Default: any, or `outputSchema` for `respond`. */
  readonly eventPayloadSchema?: unknown
  /** Ids of items or sections that it approves; true: all that are not rejected, false: none. Default: as `nextState` says. */
  readonly marksApproved?: boolean | string | readonly string[]
  /** The step that is repeated with the feedback. Default: none. */
  readonly returnsTo?: string
  /** Fields that the person must fill in. Default: those of the task, unless it rejects. */
  readonly requiredFields?: readonly string[]
}

/** Reminders at intervals: `{ every: '1d', max: 3 }`. */
export interface ReminderSource {
  /** The interval, a duration from 1 s. */
  readonly every: Duration
  /** When the first is sent, a duration after the task was opened. Default: the same as `every`. */
  readonly startAfter?: Duration
  /** How many are sent, 1 to 100. Default: 5. */
  readonly max?: number
}

/** Who is asked after the deadline: `{ to: 'group:leads', deadline: '1d' }`. */
export interface EscalationSource {
  /** `user:cfo`, `group:leads`, or several of them. */
  readonly to: string | readonly string[]
  /** How long they have, a duration, or an instant with its offset. Default: no deadline. */
  readonly deadline?: Duration
}

/** Who is asked: `{ group: 'sales', rule: 'payload.owner_id', fallback: 'leads' }`. */
export interface AssignSource {
  /** A person's id. Default: nobody by name. */
  readonly user?: string
  /** Several people. Default: none. */
  readonly users?: readonly string[]
  /** A group. Default: none. */
  readonly group?: string
  /** Several groups. Default: none. */
  readonly groups?: readonly string[]
  /** CEL over `payload` that returns a person's id: `payload.owner_id`. Default: none. */
  readonly rule?: string
  /** The group that is asked if nobody is found. Default: `operators`. */
  readonly fallback?: string
}

/** A part of what people see: `{ id: 'mails', items: { expr: 'payload.drafts' }, editable: true, schema: Mail }`. */
export interface SectionSource {
  /** Its id, unique within the task. */
  readonly id: string
  /**
   * `summary` and `preview` are shown, `review_items` is decided item by item, `editable` is edited. Default: `review_items` if it has items, else
   * `summary`.
   */
  readonly type?: SectionType
  /** Its title. Default: its id. */
  readonly title?: string
  /** What is shown. Default: nothing. */
  readonly content?: Json
  /** The items to decide: a list, or `{ expr: 'payload.drafts' }`. Default: none. */
  readonly items?: Json
  /** True: people may change it. Default: true for the type `editable`, else false. */
  readonly editable?: boolean
  /** JSON Schema that edited content must fit. Default: anything fits. */
  readonly schema?: unknown
}

/** A task for people, in a handler or in a step: `{ title: 'Refund 40 €?', assign: 'group:sales', deadline: '48h' }`. */
export interface TaskOptions {
  /** `approval`, `review`, `input` or `decision`: which actions it has when it names none. Default: `approval`. */
  readonly taskType?: TaskType
  /** Its title in the inbox; in a handler with templates, `Refund {{ payload.amount }}`. Default: its name in words. */
  readonly title?: string
  /** What people should know before they decide. Default: nothing. */
  readonly instructions?: string
  /** Data that is shown with it, any JSON; in a handler with templates. Default: none. */
  readonly context?: Json
  /** Who is asked: `user:ana`, `group:editors`, several of them, or with a rule. Default: the group `operators`. */
  readonly assign?: string | readonly string[] | AssignSource
  /** What they see and decide in parts. Default: one task without parts. */
  readonly bundle?: { readonly sections: readonly SectionSource[] }
  /** What they may decide: `['approve', 'reject']`, or actions of your own. Default: those of the task's type, and `reassign`. */
  readonly actions?: readonly (string | ActionSource)[]
  /** Fields that an answer must contain. Default: none. */
  readonly requiredFields?: readonly string[]
  /** JSON Schema of an answer. Default: anything fits. */
  readonly outputSchema?: unknown
  /** By when: a duration after the task was opened, or an instant with its offset. Default: no deadline. */
  readonly deadline?: Duration
  /** How long before each deadline people are reminded, `['1d', '1h']`; or at intervals, `{ every: '1d' }`. Default: never. */
  readonly reminders?: ReminderSource | readonly Duration[]
  /** Who is asked next, each time a deadline has passed. Default: nobody. */
  readonly escalation?: readonly EscalationSource[]
  /**
   * What happens when the last deadline has passed: `approve`, `reject`, `escalate`, `expire`, or an action of your own. Default: the task stays
   * open, or escalates if there are levels.
   */
  readonly autoActionOnTimeout?: string
  /** How many people must approve, and how many must reject, 1 to 100 each. Default: 1 and 1. */
  readonly quorum?: Partial<Quorum>
  /** Who may not decide: `requester`, `none`, or a list with the names of steps whose deciders are excluded. Default: `none`. */
  readonly separation?: string | readonly string[]
  /** Its priority in the inbox, -1,000 to 1,000. Default: 0. */
  readonly priority?: number
}
