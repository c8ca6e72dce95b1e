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

/** A throttle's budget: `{ limit: 100, period: '1m' }`. Of one handler, or under `limits.shared` of all handlers that name it. */
export interface BudgetSource {
  /** How many starts a period allows, 1 to 10,000. */
  readonly limit: number
  /** The period, a duration from 1 s to 7 d. */
  readonly period: Duration
  /** How many may start at once. Default: 1. */
  readonly burst?: number
}

/** How many may run at once: `{ limit: 5, key: 'payload.shop' }`. */
export interface ConcurrencySource {
  /** The limit, 1 to 10,000; with a key, of each of its values. */
  readonly limit: number
  /** What shares the limit: this `handler`, the `session`, the `module`, the `pool`, or all (`global`). Default: `handler`. */
  readonly scope?: (typeof CONCURRENCY_SCOPES)[number]
  /** CEL over `event` and `payload`: each value has a limit of its own. Default: one limit for all. */
  readonly key?: string
  /** What counts: a run while a `step` of it is performed, or the whole `run`. Default: `step`. */
  readonly unit?: (typeof UNITS)[number]
  /** How much one run takes of the limit. Default: 1. */
  readonly weight?: number
  /** The limit of all keys together. Default: none. */
  readonly total?: number
  /**
   * What becomes of a run that finds no room: it waits (`queue`), does not start (`skip`), or replaces the oldest or the newest. Default: `queue`.
   */
  readonly onLimit?: (typeof ON_LIMITS)[number]
}

/** Options that are also allowed on a single trigger, where they override the handler's. */
export const TRIGGER_OPTIONS = ['idempotency', 'rateLimit', 'debounce', 'batch'] as const
/** The flow control that a single trigger may have, which overrides the handler's. */
export type TriggerFlowSource = Pick<FlowSource, (typeof TRIGGER_OPTIONS)[number]>

/**
 * The flow control of a handler: `{ rateLimit: { limit: 10, period: '1m' }, concurrency: 5 }`. `key`, `if` and texts in `cost` and `priority` are
 * CEL. Durations are `30s`, `2h`, or milliseconds.
 */
export interface FlowSource {
  /** Events with the same key start one run. Default: every event starts one. */
  readonly idempotency?: {
    /** CEL: `payload.order_id`. */
    readonly key: string
    /** Whose keys are compared. Default: `handler`, the only one so far. */
    readonly scope?: (typeof IDEMPOTENCY_SCOPES)[number]
    /** When the key may be used again: after a failure (`on_failure`), after any end (`on_terminal`), or only after `ttl`. Default: `on_failure`. */
    readonly release?: (typeof RELEASES)[number]
    /** How long a key is kept, a duration. Default: `30d`. */
    readonly ttl?: Duration
    /**
     * What an event with a known key gets: the first run (`return_existing`), a refusal (`reject`), or it replaces the first run (`replace`).
     * Default: `return_existing`.
     */
    readonly onConflict?: (typeof CONFLICTS)[number]
  }
  /** What becomes of events while the handler is paused: `suppress` drops them, `hold` keeps them. Default: `suppress`. */
  readonly whilePaused?: (typeof PAUSES)[number]
  /** At most `limit` starts in a `period` (1 s to 30 d), for each `key`; more are dropped. Default: no limit. */
  readonly rateLimit?: { readonly limit: number; readonly period: Duration; readonly key?: string }
  /** Several events in a short time start one run. Default: each starts its own. */
  readonly debounce?: {
    /** How long no further event may come, a duration from 100 ms to 7 d. */
    readonly period: Duration
    /** CEL: each value is debounced by itself. Default: all together. */
    readonly key?: string
    /** Which event counts: the last (`trailing`), the first, at once (`leading`), or all (`collect`). Default: `trailing`. */
    readonly mode?: (typeof MODES)[number]
    /** The longest wait, a duration, or `none`. Default: ten periods. */
    readonly maxWait?: Duration | 'none'
  }
  /** Events are gathered, and one run gets all of them. Default: each starts its own. */
  readonly batch?: {
    /** How many events a batch holds, 1 to 1,000. Default: 100. */
    readonly maxSize?: number
    /** How long the first event waits for others, a duration to 7 d. Default: `5s`. */
    readonly maxWait?: Duration
    /** The size of its data, in bytes or as `2MB`. Default: 10 MiB, the most. */
    readonly maxBytes?: string | number
    /** CEL: each value has batches of its own. Default: all together. */
    readonly key?: string
    /** CEL: events for which it is false start a run of their own. Default: all are gathered. */
    readonly if?: string
    /**
     * `each`: the output names every event in `items: [{ id, status }]`; `shared`: it applies to all events. Default: `each` if the output has such a
     * list, else `shared`.
     */
    readonly outputs?: (typeof BATCH_OUTPUTS)[number]
  }
  /**
   * What becomes of an event while a run of its key is at work: it starts a run (`allow`), none (`skip`), waits alone or in line (`buffer_one`,
   * `buffer_all`), or ends the run (`cancel_running`, `terminate_running`). Default: `allow`.
   */
  readonly overlap?: (typeof OVERLAPS)[number]
  /** CEL: only runs of the same value overlap. Default: all runs of the handler. */
  readonly overlapKey?: string
  /**
   * Spreads starts over time: a budget, or the name of a shared one, `{ shared: 'crm' }`; `key` is CEL, `cost` what one start takes. Default: no
   * throttle, cost 1.
   */
  readonly throttle?: (BudgetSource | { readonly shared: string }) & {
    readonly key?: string
    readonly cost?: number | string
  }
  /** How many may run at once: a number, or up to 8 limits. Default: as many as there are slots. */
  readonly concurrency?: number | readonly ConcurrencySource[]
  /** Priority boost in seconds of simulated waiting: a number, or CEL. Default: 0. */
  readonly priority?: number | string
  /**
   * Keys take turns: `{ key: 'payload.shop' }`; a key of weight n gets n turns for one turn of others. Default: first come, first served; weight 1.
   */
  readonly fairness?: { readonly key: string; readonly weight?: number | string }
  /** Events of several types that belong together start one run. Default: each starts its own. */
  readonly fanIn?: FanInSource
}

/** Events that are gathered: `{ primary: 'order.paid', waitFor: ['stock.held'], correlationKey: 'payload.order' }`. */
export interface FanInSource {
  /** The type that counts as the trigger. */
  readonly primary: string
  /** The other types, at least one. */
  readonly waitFor: readonly string[]
  /** CEL over `payload` and `event`: events with the same value belong together. */
  readonly correlationKey: string
  /** How long the first waits for the others, a duration. Default: `1d`. */
  readonly timeout?: Duration
  /** Which of several events of one type counts: `first`, `last` or `all`. Default: `first`. */
  readonly collect?: (typeof COLLECTS)[number]
}
