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

/** The end of another function's runs: `{ after: 'import', status: 'failed' }`. */
export interface AfterTrigger {
  /** The function whose runs trigger this one when they end. */
  readonly after: string
  /** How they ended. Default: `success`. */
  readonly status?: EndStatus | readonly EndStatus[]
  /** CEL over `event` and `payload`. Default: every one. */
  readonly filter?: string
}

/** A signal to the process: `{ signal: 'SIGUSR2' }`. */
export interface SignalTrigger {
  /** The name of the signal: `SIGHUP`, `SIGUSR2`. */
  readonly signal: string
  /** CEL over `event` and `payload`. Default: every one. */
  readonly filter?: string
}

/** Files that change: `{ file: 'inbox/*.csv', on: 'added' }`. */
export interface FileTrigger {
  /** Paths with `*`, `**` and `?`, from the folder of the process. */
  readonly file: string | readonly string[]
  /** Which changes: `added`, `changed`, `removed`. Default: all of them. */
  readonly on?: FileChange | readonly FileChange[]
  /** How long a file must stay unchanged, a duration from 20 ms to 1 min. Default: `200ms`. */
  readonly settle?: Duration
  /** CEL over `event` and `payload`. Default: every one. */
  readonly filter?: string
}

/** Rows that change in the user's own database: `{ table: 'orders', database: '${SHOP_DB}', on: 'insert' }`. */
export interface TableTrigger {
  /** The table. */
  readonly table: string
  /** A SQLite file or a `postgres:` URL, preferably as a reference to the environment. */
  readonly database: string
  /** Which changes: `insert`, `update`, `delete`. Default: all of them. */
  readonly on?: TableChange | readonly TableChange[]
  /** How often the table is looked at, a duration from 50 ms to 1 d. Default: `1s`. */
  readonly every?: Duration
  /** CEL over `event` and `payload`. Default: every one. */
  readonly filter?: string
}

/** A condition that becomes true: `{ condition: 'queue.mails.length > 100', for: '5m' }`. */
export interface ConditionTrigger {
  /** CEL over `runs`, `queue`, `table` and `session`. */
  readonly condition: string
  /** How often it is evaluated, a duration. Default: `5s`. */
  readonly every?: Duration
  /** How long it must hold, a duration. Default: 0. */
  readonly for?: Duration
  /** When it fires: `rising`, `falling`, on each `change`, or while it holds (`level`). Default: `rising`. */
  readonly edge?: ConditionEdge
  /** An expression that must hold before the condition may be met again, or a duration that must pass. Default: neither. */
  readonly rearm?: string
  /** Documents that the expression reads as `table.<name>`. Default: none. */
  readonly reads?: Readonly<Record<string, { readonly table: string; readonly key: string }>>
  /** The session whose memory the expression reads as `session.<key>`. Default: none. */
  readonly session?: string
  /** CEL over `event` and `payload`. Default: every one. */
  readonly filter?: string
}

/** Something to watch that starts a handler: the end of other runs, a signal, files, a table, or a condition. */
export type WatchTrigger = AfterTrigger | SignalTrigger | FileTrigger | TableTrigger | ConditionTrigger

/** What starts an agent or a human: an event type, an event with a filter, or something to watch. */
export type Trigger = string | EventTrigger | WatchTrigger
