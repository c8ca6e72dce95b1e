/**
 * Flow control as an author writes it.
 *
 * Owns the options and their values. The normal form is in flow.ts.
 */
type Duration = string | number

/** A gate knows one handler: scopes for keys that several handlers share, or that belong to a session, are not supported yet. */
export const IDEMPOTENCY_SCOPES = ['handler'] as const
export const RELEASES = ['on_failure', 'on_terminal', 'ttl'] as const
export const CONFLICTS = ['return_existing', 'reject', 'replace'] as const
export const MODES = ['trailing', 'leading', 'collect'] as const
export const BATCH_OUTPUTS = ['each', 'shared'] as const
export const PAUSES = ['suppress', 'hold'] as const
export const OVERLAPS = ['allow', 'skip', 'buffer_one', 'buffer_all', 'cancel_running', 'terminate_running'] as const
export const CONCURRENCY_SCOPES = ['handler', 'session', 'module', 'pool', 'global'] as const
export const COLLECTS = ['first', 'last', 'all'] as const
export const UNITS = ['step', 'run'] as const
export const ON_LIMITS = ['queue', 'skip', 'cancel_oldest', 'cancel_newest'] as const

/** A throttle's budget: of one handler, or under `limits.shared` of all handlers that name it. */
export interface BudgetSource {
  readonly limit: number
  readonly period: Duration
  readonly burst?: number
}

export interface ConcurrencySource {
  readonly limit: number
  readonly scope?: (typeof CONCURRENCY_SCOPES)[number]
  readonly key?: string
  readonly unit?: (typeof UNITS)[number]
  readonly weight?: number
  /** The limit of all keys together. */
  readonly total?: number
  /** A run that finds no room waits (default), does not start, or replaces the oldest or the newest. */
  readonly onLimit?: (typeof ON_LIMITS)[number]
}

/** Options that are also allowed on a single trigger, where they override the handler's. */
export const TRIGGER_OPTIONS = ['idempotency', 'rateLimit', 'debounce', 'batch'] as const
export type TriggerFlowSource = Pick<FlowSource, (typeof TRIGGER_OPTIONS)[number]>

/** The flow control options of a handler. `key`, `if` and texts in `cost` and `priority` are CEL. */
export interface FlowSource {
  readonly idempotency?: {
    readonly key: string
    readonly scope?: (typeof IDEMPOTENCY_SCOPES)[number]
    readonly release?: (typeof RELEASES)[number]
    readonly ttl?: Duration
    readonly onConflict?: (typeof CONFLICTS)[number]
  }
  readonly whilePaused?: (typeof PAUSES)[number]
  readonly rateLimit?: { readonly limit: number; readonly period: Duration; readonly key?: string }
  readonly debounce?: {
    readonly period: Duration
    readonly key?: string
    readonly mode?: (typeof MODES)[number]
    /** Default: ten periods. */
    readonly maxWait?: Duration | 'none'
  }
  readonly batch?: {
    readonly maxSize?: number
    readonly maxWait?: Duration
    readonly maxBytes?: string | number
    readonly key?: string
    readonly if?: string
    /**
     * `each`: the output names every event in `items: [{ id, status }]`; `shared`: it applies to all events. Absent: depends on whether the
     * output has a list.
     */
    readonly outputs?: (typeof BATCH_OUTPUTS)[number]
  }
  readonly overlap?: (typeof OVERLAPS)[number]
  readonly overlapKey?: string
  readonly throttle?: (BudgetSource | { readonly shared: string }) & {
    readonly key?: string
    readonly cost?: number | string
  }
  readonly concurrency?: number | readonly ConcurrencySource[]
  /** Seconds, or an expression that returns them. */
  readonly priority?: number | string
  /** Keys take turns; a key of weight n gets n turns for one turn of others. The weight is a number or an expression that returns it. */
  readonly fairness?: { readonly key: string; readonly weight?: number | string }
  /** Events of several types that belong together start one run. */
  readonly fanIn?: FanInSource
}

export interface FanInSource {
  readonly primary: string
  readonly waitFor: readonly string[]
  /** CEL over `payload` and `event`: events with the same value belong together. */
  readonly correlationKey: string
  /** Default: a day. */
  readonly timeout?: Duration
  /** Which of several events of one type counts. Default: the first. */
  readonly collect?: (typeof COLLECTS)[number]
}
