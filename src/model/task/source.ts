/**
 * The options with which an author asks people: in code, in a handler's definition or in a manifest.
 *
 * Owns the options only. manifest/human/humans.ts makes the normal form, with defaults and refusals.
 */
import type { Json } from '#model/kernel/json.ts'
import type { Quorum, SectionType, TaskType } from './spec.ts'

/** `30s`, `1h30m`, `P1D`, or milliseconds as a number. */
type Duration = string | number

export interface ActionSource {
  readonly name: string
  readonly label?: string
  readonly requiresReason?: boolean
  /** The action ends the task. Default: true. */
  readonly terminal?: boolean
  readonly nextState?: string
  readonly emitsEvent?: string
  readonly emits?: string
  readonly eventPayload?: Json
  /** JSON Schema of this action's fields. */
  readonly eventPayloadSchema?: unknown
  /** Ids of items or sections that it approves; `true`: all that are not rejected, `false`: none. Absent: as `nextState` says. */
  readonly marksApproved?: boolean | string | readonly string[]
  /** The step that is repeated with the feedback. */
  readonly returnsTo?: string
  readonly requiredFields?: readonly string[]
}

export interface ReminderSource {
  readonly every: Duration
  /** Default: the same as `every`. */
  readonly startAfter?: Duration
  readonly max?: number
}

export interface EscalationSource {
  /** `user:cfo`, `group:leads`, or several of them. */
  readonly to: string | readonly string[]
  readonly deadline?: Duration
}

export interface AssignSource {
  readonly user?: string
  readonly users?: readonly string[]
  readonly group?: string
  readonly groups?: readonly string[]
  /** CEL that returns a person's id: `payload.owner_id`. */
  readonly rule?: string
  /** The group that is asked if an id is unknown. Default: `operators`. */
  readonly fallback?: string
}

export interface SectionSource {
  readonly id: string
  readonly type?: SectionType
  readonly title?: string
  readonly content?: Json
  /** A list, or `{expr: 'payload.drafts'}`. */
  readonly items?: Json
  readonly editable?: boolean
  /** JSON Schema of edited content. */
  readonly schema?: unknown
}

/** The options of a task for people, in a handler or in a step. */
export interface TaskOptions {
  readonly taskType?: TaskType
  readonly title?: string
  readonly instructions?: string
  readonly context?: Json
  /** `user:ana`, `group:editors`, several of them, or with a rule. Absent: the fallback group. */
  readonly assign?: string | readonly string[] | AssignSource
  readonly bundle?: { readonly sections: readonly SectionSource[] }
  readonly actions?: readonly (string | ActionSource)[]
  readonly requiredFields?: readonly string[]
  /** JSON Schema of an answer. */
  readonly outputSchema?: unknown
  /** A duration, or an instant with its offset. */
  readonly deadline?: Duration
  /** These durations before each deadline; or at intervals. */
  readonly reminders?: ReminderSource | readonly Duration[]
  readonly escalation?: readonly EscalationSource[]
  /**
   * `approve`, `reject`, `escalate`, `expire` or an action of the author's own. Absent: the task stays open, or escalates if there are levels.
   */
  readonly autoActionOnTimeout?: string
  readonly quorum?: Partial<Quorum>
  /** The people who may not decide: the requester, or those who decided these steps. */
  readonly separation?: string | readonly string[]
  readonly priority?: number
}
