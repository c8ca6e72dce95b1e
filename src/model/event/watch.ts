/**
 * Triggers as an author writes them on a handler.
 *
 * Owns only the shapes and their literals. Their meaning, and which are refused, is in manifest/define/sources.ts.
 */
import type { ConditionEdge } from './condition.ts'

export const FILE_CHANGES = ['added', 'changed', 'removed'] as const
export const TABLE_CHANGES = ['insert', 'update', 'delete'] as const
export type FileChange = (typeof FILE_CHANGES)[number]
export type TableChange = (typeof TABLE_CHANGES)[number]
/** How a run ended; `ended` means any of the others. */
export type EndStatus = 'success' | 'partial' | 'failed' | 'cancelled' | 'expired' | 'quarantined' | 'ended'

type Duration = string | number

/** An event that starts a handler: `{ event: 'order.paid', filter: 'payload.total > 100' }`. */
export interface EventTrigger {
  /** The type of the event. */
  readonly event: string
  /** CEL over `event` and `payload`: only events for which it is true start the handler. Default: every event of the type. */
  readonly filter?: string
}

export interface AfterTrigger {
  /** The function whose runs trigger this one when they end. */
  readonly after: string
  /** How they ended. Default `success`. */
  readonly status?: EndStatus | readonly EndStatus[]
  readonly filter?: string
}

export interface SignalTrigger {
  readonly signal: string
  readonly filter?: string
}

export interface FileTrigger {
  /** Paths with `*`, `**` and `?`, from the folder of the process. */
  readonly file: string | readonly string[]
  readonly on?: FileChange | readonly FileChange[]
  /** How long a file must stay unchanged. */
  readonly settle?: Duration
  readonly filter?: string
}

export interface TableTrigger {
  readonly table: string
  /** The user's own database: a SQLite file or a `postgres:` URL, preferably as a reference to the environment. */
  readonly database: string
  readonly on?: TableChange | readonly TableChange[]
  readonly every?: Duration
  readonly filter?: string
}

export interface ConditionTrigger {
  /** CEL over `runs`, `queue`, `table` and `session`. */
  readonly condition: string
  readonly every?: Duration
  readonly for?: Duration
  readonly edge?: ConditionEdge
  /** An expression that must hold before the condition may be met again, or a time that must pass. */
  readonly rearm?: string
  /** Documents that the expression reads as `table.<name>`. */
  readonly reads?: Readonly<Record<string, { readonly table: string; readonly key: string }>>
  /** The session whose memory the expression reads as `session.<key>`. */
  readonly session?: string
  readonly filter?: string
}

/** Something to watch that starts a handler: the end of other runs, a signal, files, a table, or a condition. */
export type WatchTrigger = AfterTrigger | SignalTrigger | FileTrigger | TableTrigger | ConditionTrigger

/** What starts an agent or a human: an event type, an event with a filter, or something to watch. */
export type Trigger = string | EventTrigger | WatchTrigger
