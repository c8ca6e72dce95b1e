/**
 * What an author writes to ask people: in code, in a handler's definition or in a manifest.
 *
 * Owns the spelling. What it comes to, with defaults and refusals, is manifest/human/humans.ts.
 */
import type { Json } from '#model/kernel/json.ts'
import type { Quorum, SectionType, TaskType } from './spec.ts'

/** `30s`, `1h30m`, `P1D`, or milliseconds as a number. */
type Duration = string | number

export interface ActionSource {
  readonly name: string
  readonly label?: string
  readonly requiresReason?: boolean
  /** Default true: it ends the task. */
  readonly terminal?: boolean
  readonly nextState?: string
  readonly emitsEvent?: string
  readonly emits?: string
  readonly eventPayload?: Json
  /** What the fields of this action must fit. */
  readonly eventPayloadSchema?: unknown
  /** Items or sections that it approves; `true`: all that are not rejected, `false`: nothing. Absent: as `nextState` says. */
  readonly marksApproved?: boolean | string | readonly string[]
  /** The step that is done again with the feedback. */
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
  /** CEL that gives a person's id: `payload.owner_id`. */
  readonly rule?: string
  /** Who is asked where an id is unknown. Default `operators`. */
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
  /** What edited content must fit. */
  readonly schema?: unknown
}

/** What is asked of people, wherever it is asked: by a handler or by a step. */
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
  /** What an answer must fit. */
  readonly outputSchema?: unknown
  /** A duration, or an instant with its offset. */
  readonly deadline?: Duration
  /** So long before each deadline; or at intervals. */
  readonly reminders?: ReminderSource | readonly Duration[]
  readonly escalation?: readonly EscalationSource[]
  /** `approve`, `reject`, `escalate`, `expire` or an own action. Absent: stays open, or climbs where there are levels. */
  readonly autoActionOnTimeout?: string
  readonly quorum?: Partial<Quorum>
  /** Who may not decide: the requester, or whoever decided these steps. */
  readonly separation?: string | readonly string[]
  readonly priority?: number
}
