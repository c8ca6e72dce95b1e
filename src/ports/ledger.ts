/**
 * The ledger: where facts live. One append is one all-or-nothing change; a batch of appends shares one transaction.
 *
 * This port alone owns fencing and idempotence. Queries for people and pages are in the Reader.
 *
 * ledger-1  An outcome other than a thrown error is durable: written to disk before it is returned.
 * ledger-2  Each append succeeds or fails alone: a conflict writes nothing of that append and does not affect the others.
 * ledger-3  The same append sent twice (same appendId) is written once; the second answer is already_written.
 * ledger-4  A stream's facts are numbered 0..n-1 without gap, its version is n, and no write passes with another version or a stale epoch.
 * ledger-5  A run with a matching wait is signalled in the transaction that writes the event, whichever of the two came first.
 * ledger-6  A signal is never lost: it makes a parked run due at once, and a leased run due at its release.
 * ledger-7  A due run without a lease is claimed by exactly one claimer, and each claim raises its epoch.
 * ledger-8  A claim returns a run only if each of its slots has room: the weights of all runs that have a lease and the same slot key, its
 *           own included, stay within its limit. A run frees what it took together with its lease; nothing else counts.
 * ledger-9  The row of a task shows the last write to the task: it is written with the facts, or not at all.
 * ledger-10 A claim with a taker returns only runs that the taker may take by model/worker/pin.ts. A run of another version is pinned to
 *           the taker's version with the claim or before it, and remembers the version it was created with.
 * ledger-11 An event is found by each value that its data holds (`matching`), also if it was written before that path was first queried;
 *           the time that this takes does not depend on how many other events of its type there are.
 */
import type { Event, StoredEvent } from '#model/event/event.ts'
import type { Slot } from '#model/flow/lane.ts'
import type { ClaimableId, Instant, RunId, SessionId, StreamId, TenantId, WorkerId } from '#model/kernel/ids.ts'
import type { Json } from '#model/kernel/json.ts'
import type { RunStatus } from '#model/run/status.ts'
import type { Taker } from '#model/worker/pin.ts'
import type { WorkerInfo } from '#model/worker/worker-info.ts'

export interface Ledger {
  /**
   * Writes a batch; answers in the same order. At most one append of a batch may write a given existing stream.
   * Throws only TrihandError with outcome `not_done`, or `unknown` when the outcome cannot be known: then send the same batch again.
   */
  append(batch: readonly Append[]): Promise<readonly Outcome[]>
  /** Returns the streams with their facts, in the order asked; null for one that does not exist. */
  load(streams: readonly StreamId[], options?: LoadOptions): Promise<readonly (StreamRecord | null)[]>
  /**
   * Returns events of these types or with these values, sequence greater than `after`, oldest first; or the events with these sequences.
   */
  events(query: EventQuery): Promise<readonly StoredEvent[]>
  /** Leases runs that are due (or only the named ones, if they are due) and have room (ledger-8), in the order of model/flow/lane.ts. */
  claim(request: ClaimRequest): Promise<Claims>
  /**
   * Records a heartbeat of this worker, and frees the leases of workers that have been silent longer than `ttlMs`. Returns how many leases
   * it freed.
   */
  beat(request: BeatRequest): Promise<number>
  /** Releases the leases of a worker that stops (the runs become due at once) and removes the worker. */
  retire(worker: WorkerId, now: Instant): Promise<void>
  close(): Promise<void>
}

/** Which facts are returned. Default: all. Set one of the two. */
export interface LoadOptions {
  /** Returns only facts from this seq on. */
  readonly after?: number
  /** Returns only this many of the last facts. */
  readonly last?: number
}

export interface Append {
  /** Chosen by the writer, never reused for other content. */
  readonly appendId: string
  /** All-or-nothing together. Empty for an event that starts nothing. */
  readonly writes: readonly StreamWrite[]
  readonly events: readonly NewEvent[]
  /** Runs and coordinators to wake because of this append: the parent of a run that ended. */
  readonly signals: readonly ClaimableId[]
  readonly documents: readonly DocumentWrite[]
}

export interface StreamWrite {
  readonly stream: StreamId
  /** Set exactly when this write creates the stream; then expectedVersion is 0. */
  readonly create: NewStream | null
  readonly expectedVersion: number
  /** The epoch that the writer's claim returned. Null for a command from outside: only the version is checked. Ignored on create. */
  readonly epoch: number | null
  /** At least one, except for a release without new facts. The first gets seq = expectedVersion. */
  readonly facts: readonly SealedFact[]
  /** The hash of the stream's last fact after this write. */
  readonly headHash: string
  readonly status: RunStatus
  /** When the run must be woken; null = never by time. For a leased run it counts from the release on. */
  readonly wakeAt: Instant | null
  /** Releases the lease. If a signal newer than `seenSignal` has come, the run is due at once instead of at wakeAt. */
  readonly release: boolean
  readonly seenSignal: number
  readonly opensWaits: readonly WaitRow[]
  /** Step addresses whose wait rows end with this write. */
  readonly closesWaits: readonly string[]
  /** Only for a task: its row in the inbox from now on. */
  readonly task?: TaskRow
}

/** A task as the inbox lists and filters it. */
export interface TaskRow {
  readonly tenant: TenantId
  readonly run: RunId
  readonly step: string
  readonly status: string
  /** The task still waits for people. */
  readonly isOpen: boolean
  readonly type: string
  readonly title: string
  /** The inboxes that it is in while it is open: `user:ana`, `group:editors`. */
  readonly addresses: readonly string[]
  readonly claimedBy: string | null
  readonly priority: number
  readonly deadlineAt: Instant | null
  readonly createdAt: Instant
  readonly updatedAt: Instant
  /** People who have snoozed the task, each with the instant until which it is hidden from them. */
  readonly putOff: Readonly<Record<string, Instant>>
  /** Everything else that a list shows; no query filters by it. */
  readonly summary: Json
}

export interface NewStream {
  readonly tenant: TenantId
  readonly handler: string
  /** The version that it is pinned to (model/worker/pin.ts). */
  readonly systemHash: string
  readonly session: SessionId | null
  readonly parent: ClaimableId | null
  /** Index into the append's `events`, if one of them triggered this run. */
  readonly event: number | null
  /** The sequence of an event that the ledger has already; then `event` is null. */
  readonly sequence?: number
  /** Creates the run already leased to this worker with epoch 1; otherwise it is due at wakeAt. */
  readonly lease: WorkerId | null
  readonly createdAt: Instant
  /** The slots that the run takes while it has a lease (ledger-8), a few of them. A run with slots is not created leased. */
  readonly slots?: readonly Slot[]
  /** Priority boost: by how many seconds its waiting counts longer than it is, -86,400 to 86,400. */
  readonly priority?: number
}

/** A fact as stored. `hash` seals it to the one before (model/kernel/seal.ts). */
export interface SealedFact {
  readonly type: string
  readonly recordedAt: Instant
  /** Exact output of JSON.stringify. */
  readonly body: string
  readonly hash: string
}

/** The events that an open wait listens for. `path` and `value` are empty for a wait on the type alone. */
export interface WaitRow {
  readonly step: string
  readonly type: string
  /** Dotted path into the event's data. */
  readonly path: string
  /** Canonical JSON that the event must hold at that path. */
  readonly value: string
  /** Events after this sequence count. */
  readonly base: number
  /**
   * How many events after `base` the writer has looked at already, of this type and with this value. If the ledger counts another number,
   * the run is due at once. It is also due at once while the ledger has events of the type whose value at the path it does not know;
   * reading them (`matching`) fills that in.
   */
  readonly seen: number
}

export interface NewEvent {
  readonly event: Event
  /** sha256 of the canonical data: distinguishes a repeat from a reuse of the id. */
  readonly dataHash: string
  /** Triggers that matched the type and started no run, with the reason. */
  readonly suppressed: readonly Suppression[]
}

export interface Suppression {
  readonly trigger: string
  readonly reason: 'filter' | 'error' | 'hop_limit' | 'reentry'
  readonly detail: string
}

/** A row in a managed table, written with the fact that carries it. Null deletes. */
export interface DocumentWrite {
  readonly tenant: TenantId
  readonly table: string
  readonly key: string
  readonly value: Json
}

export type Outcome =
  | {
      readonly kind: 'written' | 'already_written'
      /** The sequences of the append's events, in order. */
      readonly sequences: readonly number[]
      /** The highest event sequence when this was written: the base of runs created here without an event of their own. */
      readonly position: number
      /**
       * Runs that this append made due or woke; may name more than needed, never fewer (empty on already_written). If it frees slots and
       * runs are due that wait for slots, it names one of these.
       * slots and runs are due that wait for slots, it names one of these.
       */
      readonly signalled: readonly ClaimableId[]
    }
  | {
      readonly kind: 'conflict'
      readonly reason: 'version' | 'epoch'
      readonly stream: StreamId
      readonly version: number
      readonly epoch: number
    }
  /** An event with this (tenant, source, id) exists. Nothing of the append was written. */
  | {
      readonly kind: 'conflict'
      readonly reason: 'taken'
      readonly sequence: number
      readonly dataHash: string
      readonly runs: readonly RunId[]
    }

export interface StreamRecord {
  readonly stream: StreamId
  readonly tenant: TenantId
  readonly handler: string
  /** The version that it is pinned to now. */
  readonly systemHash: string
  /** The version that it was created with, once another version has taken it over; null: the one it is pinned to. */
  readonly bornHash: string | null
  readonly session: SessionId | null
  readonly parent: ClaimableId | null
  /** Sequence of the event that triggered the run. */
  readonly event: number | null
  /** Lookback starts after this event sequence. */
  readonly base: number
  readonly version: number
  readonly epoch: number
  readonly signal: number
  readonly status: RunStatus
  readonly wakeAt: Instant | null
  readonly lease: WorkerId | null
  /** How often a lease was lost since the last fact. */
  readonly recoveries: number
  readonly headHash: string
  readonly createdAt: Instant
  readonly facts: readonly SealedFact[]
  /** What is wrong with the facts. `facts` then holds a fact that nothing can read (model/kernel/fact-codec.ts) in their place. */
  readonly broken?: string
}

export interface EventQuery {
  readonly tenant: TenantId
  readonly types?: readonly string[]
  /** Events that match any of these. */
  readonly matching?: readonly EventMatch[]
  readonly after?: number
  readonly sequences?: readonly number[]
  /** With `types` or `matching`: waits for events of these types that are being written, so that none with a lower sequence can appear later. */
  readonly settled?: boolean
  /** With `types` or `matching`: the newest instead of the oldest within the limit. They still come oldest first. */
  readonly newest?: boolean
  readonly limit: number
}

/** Events of a type that hold a value (canonical JSON) at a dotted path into their data, after a sequence. */
export interface EventMatch {
  readonly type: string
  readonly path: string
  readonly value: string
  readonly after: number
}

export interface ClaimRequest {
  readonly worker: WorkerId
  /** The caller's clock. A shared store may use its own instead. */
  readonly now: Instant
  /** 0: claim nothing, only return when the next run falls due. */
  readonly limit: number
  readonly only?: readonly ClaimableId[]
  /** The handlers whose runs this worker may take; nextDueAt then covers only these. Null or absent: all. */
  readonly handlers?: readonly string[] | null
  /** The version that the runs are taken for (ledger-10). Absent: any run, and none changes its version. */
  readonly taker?: Taker
}

export interface Claim {
  readonly stream: ClaimableId
  readonly tenant: TenantId
  readonly version: number
  readonly epoch: number
  readonly signal: number
}

export interface Claims {
  readonly claims: readonly Claim[]
  /**
   * When the next run without a lease falls due (may be in the past if the limit was reached); null: no run waits for time.
   * A run that is due and waits for room in a slot does not count: the append that frees the room names one in `signalled`.
   */
  readonly nextDueAt: Instant | null
  /** How many parked runs of other versions were pinned to the taker's version, or set aside. There may be more of them. Absent: none. */
  readonly moved?: number
  /**
   * Data that the claimer would ask for next, if the store can return it with the claim: claimed runs as `load` returns them right after
   * the claim, and the events that triggered these. All, some or none of the claimed runs may be among them; the caller loads the others.
   */
  readonly records?: readonly StreamRecord[]
  readonly events?: readonly StoredEvent[]
}

export interface BeatRequest {
  readonly worker: WorkerId
  readonly now: Instant
  readonly ttlMs: number
  /** What this worker publishes about itself. Absent: unchanged. */
  readonly info?: WorkerInfo
}
