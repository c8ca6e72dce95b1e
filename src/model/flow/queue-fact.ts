/**
 * What can be said about a queue: the facts that make it, the commands that ask for them, the states it can be in.
 *
 * Owns the words only; the rules are queue.ts. All state is plain JSON: a checkpoint holds it whole. A message is an event of the
 * ledger, named here by its sequence.
 */
import type { RetryPolicy } from '#model/flow/policies/retry.ts'
import type { Instant, RunId } from '#model/kernel/ids.ts'

export const QUEUE_FULLS = ['reject', 'block', 'drop_oldest'] as const

/** What the system declares of a queue; it comes with each command, so that a change is for what comes. */
export interface QueuePolicy {
  readonly maxLength: number
  readonly onFull: (typeof QUEUE_FULLS)[number]
  /** The first cycle counts. */
  readonly maxAttempts: number
  /** When a message that failed comes back; how often is `maxAttempts`. */
  readonly retry: RetryPolicy
  /** Messages in one cycle. */
  readonly batch: number
  /** Cycles at once; 0: nobody works on it. */
  readonly cycles: number
}

export interface Message {
  readonly sequence: number
  /** In how many cycles it has been, this one included. */
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
  /** Gave way to newer ones: so many of those that nobody has read yet, and these that had come back. */
  | (At & { readonly type: 'queue.dropped'; readonly unread: number; readonly returned: readonly number[] })
  /** Dropped ones were passed over: everything up to the cursor has its place. */
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
  /** `unread`: sequences of the next messages after the cursor, as many as were read; `runOf` names the n-th cycle's run. */
  | (Ruled & { readonly type: 'take'; readonly unread: readonly number[]; readonly runOf: (cycle: number) => RunId })
  | (Ruled & { readonly type: 'end_cycle'; readonly run: RunId; readonly failed: ReadonlySet<number> })
  /** Dead ones get all their tries again. */
  | (Now & { readonly type: 'revive'; readonly by: string })

export interface OpenQueue {
  readonly kind: 'open'
  /** Every message up to here was taken or dropped. */
  readonly cursor: number
  /** Messages after the cursor that were dropped before anybody read them. */
  readonly passing: number
  /** Messages after those that wait. */
  readonly unread: number
  /** Those that failed and wait for their time, in that order. */
  readonly returned: readonly Returned[]
  readonly cycles: readonly Cycle[]
  /** How many cycles there were. */
  readonly started: number
  /** The last of those that are given up. */
  readonly dead: readonly Message[]
}

export type QueueState = { readonly kind: 'none' } | OpenQueue
