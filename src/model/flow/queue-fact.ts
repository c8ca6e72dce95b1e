/**
 * The data types of a queue: its facts, its commands and its states.
 *
 * Owns the types only; the rules are in queue.ts. All state is plain JSON: a checkpoint stores all of it. A message is an event of the ledger,
 * named here by its sequence.
 */
import type { RetryPolicy } from '#model/flow/policies/retry.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'

export const QUEUE_FULLS = ['reject', 'block', 'drop_oldest'] as const

/** The system's declaration of a queue; it comes with each command, so that a change applies to later commands. */
export interface QueuePolicy {
  readonly maxLength: number
  readonly onFull: (typeof QUEUE_FULLS)[number]
  /** Includes the first cycle. */
  readonly maxAttempts: number
  /** When a failed message comes back; `maxAttempts` says how often. */
  readonly retry: RetryPolicy
  /** The maximum number of messages in one cycle. */
  readonly batch: number
  /** The maximum number of open cycles; 0: the queue is not processed. */
  readonly cycles: number
}

export interface Message {
  readonly sequence: number
  /** The number of cycles that it has been in, this one included. */
  readonly attempts: number
}

export interface Returned extends Message {
  readonly dueAt: Instant
}

export interface Cycle {
  readonly run: RunId
  readonly messages: readonly Message[]
}

type At = { readonly at: Instant }

export type QueueFact =
  | (At & { readonly type: 'queue.opened' })
  | (At & { readonly type: 'queue.put'; readonly count: number })
  /** Messages dropped for newer ones: this many unread ones, and these that had come back. */
  | (At & { readonly type: 'queue.dropped'; readonly unread: number; readonly returned: readonly number[] })
  /** Dropped messages were skipped: everything up to the cursor has its place. */
  | (At & { readonly type: 'queue.passed'; readonly cursor: number; readonly count: number })
  | (At & { readonly type: 'queue.cycle_started'; readonly cursor: number } & Cycle)
  | (At & {
      readonly type: 'queue.cycle_ended'
      readonly run: RunId
      readonly back: readonly Returned[]
      readonly dead: readonly Message[]
    })
  | (At & { readonly type: 'queue.revived'; readonly messages: readonly number[]; readonly by: string })
  | (At & { readonly type: 'queue.checkpointed'; readonly state: OpenQueue })

export type QueueFactType = QueueFact['type']

type Now = { readonly now: Instant }
type Ruled = Now & { readonly policy: QueuePolicy }

export type QueueCommand =
  | (Now & { readonly type: 'open_queue' })
  | (Ruled & { readonly type: 'put'; readonly count: number })
  /** `unread`: sequences of the next messages after the cursor, as many as were read; `runOf` names the run of the n-th cycle. */
  | (Ruled & { readonly type: 'take'; readonly unread: readonly number[]; readonly runOf: (cycle: number) => RunId })
  | (Ruled & { readonly type: 'end_cycle'; readonly run: RunId; readonly failed: ReadonlySet<number> })
  /** Dead messages get all their attempts again. */
  | (Now & { readonly type: 'revive'; readonly by: string })

export interface OpenQueue {
  readonly kind: 'open'
  /** Every message up to here was taken or dropped. */
  readonly cursor: number
  /** The number of messages after the cursor that were dropped before they were read. */
  readonly passing: number
  /** The number of messages after those, which wait. */
  readonly unread: number
  /** Failed messages that wait for their time, in the order of that time. */
  readonly returned: readonly Returned[]
  readonly cycles: readonly Cycle[]
  /** The number of cycles so far. */
  readonly started: number
  /** The last messages that were given up. */
  readonly dead: readonly Message[]
}

export type QueueState = { readonly kind: 'none' } | OpenQueue
