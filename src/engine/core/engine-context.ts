/**
 * The context that the parts of the engine share: the ports, and the small services built on them.
 *
 * Owns the list. Each part takes the context and uses what it needs; only `commit` can write the ledger.
 */
import type { Spawned } from '#engine/coordinators/coordinator-logic.ts'
import type { AskedRetry, AskedRun, RetryAnswer } from '#engine/coordinators/gate-config.ts'
import type { NewRun } from '#engine/run/new-run.ts'
import type { Circuits } from '#engine/step/circuits.ts'
import type { System } from '#manifest/define/system.ts'
import type { Module } from '#model/access/module.ts'
import type { PriceOf } from '#model/agent/usage.ts'
import type { CancelRule } from '#model/event/cancel-on.ts'
import type { StoredEvent } from '#model/event/event.ts'
import type { RetryPolicy } from '#model/flow/policies/retry.ts'
import type { ClaimableId, GateId, Instant, RunId, TenantId, WorkerId } from '#model/kernel/ids.ts'
import type { Modality } from '#model/kernel/modality.ts'
import type { Redaction } from '#model/kernel/redaction.ts'
import type { LiveRun } from '#model/run/fact.ts'
import type { Effect } from '#model/run/step.ts'
import type { TaskWorld } from '#model/task/fact.ts'
import type { WorkflowSpec } from '#model/workflow/spec.ts'
import type { Blobs } from '#ports/blobs.ts'
import type { Clock } from '#ports/clock.ts'
import type { Abort } from '#ports/executor.ts'
import type { Ids } from '#ports/ids.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { Reader } from '#ports/reader.ts'
import type { Entry } from '#ports/step-port.ts'
import type { Commit } from './commit.ts'
import type { Deadlines } from './deadlines.ts'
import type { Observers } from './observers.ts'
import type { Executors } from './perform.ts'
import type { Publish } from './publish.ts'
import type { TokenStream } from './token-stream.ts'

export interface EngineContext {
  readonly ledger: Pick<Ledger, 'load' | 'events'>
  readonly commit: Commit
  readonly blobs: Blobs
  readonly clock: Clock
  readonly ids: Ids
  /** Removes secrets from everything that is written, published or streamed. */
  readonly redaction: Redaction
  readonly deadlines: Deadlines
  readonly executors: Executors
  /** Returns what tokens of a model cost. */
  readonly price: PriceOf
  readonly publish: Publish
  /** Listeners that collect metrics. Check for them before anything is measured. */
  readonly observers: Observers
  /** Streams answers while they are produced. */
  readonly deltas: TokenStream
  readonly tenant: TenantId
  /** The definition in force: new runs are pinned to its hash. */
  readonly system: () => System
  readonly enter: EnterHandler
  readonly worker: WorkerApi
  readonly circuits: Circuits
  /** Throttled runs ask here for permission to start. */
  readonly starts: StartApi
  readonly gates: GateApi
  /** Functions from outside that decisions about tasks need. */
  readonly taskWorld: TaskWorld
  /** Reads the current value of a document of a managed table. */
  readonly document: Reader['document']
  readonly documents: Reader['documents']
  /** False: documents cannot be read here, so nothing that is needed later may be kept in one. */
  readonly hasDocuments: boolean
  /** Reads why an event did not start handlers without flow control. */
  readonly suppressed: Reader['suppressed']
  /** Reads the runs that name a run as their parent, also those that the parent has not recorded. */
  readonly children: Reader['children']
  /** Returns a new id for every append. It is short because it is stored with every fact. */
  readonly appendId: () => string
}

/** Calls a handler's code. The modality selects how it is executed. */
export type EnterHandler = (
  entry: Entry,
  options: {
    readonly name: string
    readonly modality: Modality
    readonly module: Module | null
    readonly code: unknown
    readonly effect: Effect
    readonly retry: RetryPolicy
    readonly timeoutMs: number
    readonly workflow: WorkflowSpec
    readonly cancelOn: readonly CancelRule[]
  },
  abort: Abort,
) => unknown

/** What the rest of the engine may ask of the gates of handlers. */
export interface GateApi {
  /** Returns the gate that runs of this handler pass; null if there is none. */
  gateFor(handler: string): GateId | null
  /** Returns the run that the call leads to; throws if the gate rejects the call. */
  call(handler: string, asked: AskedRun): Promise<RunId>
  /** Returns whether a run that has ended goes on now or waits for its turn; throws if the gate rejects the retry. */
  retry(handler: string, asked: AskedRetry): Promise<RetryAnswer>
  /** Returns what an append must contain so that the gate accepts these runs. */
  pass(handler: string, asked: readonly AskedRun[]): Promise<Spawned>
  /** Returns whether this handler may still start a run for the event. */
  isUndecided(handler: string, event: StoredEvent): Promise<boolean>
  /** From now on the end of `run`, which has the idempotency key of a call, wakes `by`, the run that called. */
  follow(handler: string, run: RunId, by: RunId): Promise<void>
  /** Returns the gate to notify of the end of a run with this parent, besides the parent; null if there is none. */
  hearsEnd(handler: string, parent: ClaimableId | null): GateId | null
  /** Withdraws a call that waits. Returns false if no call with this run waits there. */
  withdraw(handler: string, run: RunId, why: { readonly by: string; readonly detail: string }): Promise<boolean>
}

/** A run in memory that may have to ask for permission to start. */
export interface StartingRun {
  readonly record: { readonly id: RunId; readonly handler: string }
  readonly live: LiveRun | null
}

/** What a run that is about to be entered may ask of its throttle. */
export interface StartApi {
  /** Returns whether the run may have to ask at all. */
  holds(run: StartingRun): boolean
  /**
   * `now`: the run begins, and reports it by `made`. `free`: it needs no permission, because it began before or was created without a
   * throttle. An instant: it parks until then. `never`: it may not begin any more (`isOpen`).
   */
  admit(run: StartingRun, isOpen: () => boolean): Promise<Instant | 'now' | 'free' | 'never'>
  /** The run's handler was entered. */
  made(run: StartingRun): void
}

/** What the rest of the engine may ask about leases. */
export interface LeaseApi {
  /** How long a silent worker keeps its leases, in milliseconds. */
  readonly ttlMs: number
  /** Whether no other worker can have taken this worker's leases, because its last heartbeat is recent enough. */
  readonly isSure: boolean
  /** Sends a heartbeat, then asks the ledger whether this lease is still held here. */
  holds(run: RunId, epoch: number): Promise<boolean>
  /** Whether the process of the worker with this name is known to have ended. Null: the name was not recorded. */
  isGone(worker: WorkerId | null): boolean
}

/** What the rest of the engine may ask of the worker in this process. */
export interface WorkerApi {
  /** All workers were ordered to stop: no step begins here. */
  readonly isStopped: boolean
  readonly leases: LeaseApi
  /** A lease for a run that is about to be created; null: there is no room, or it belongs elsewhere. A child may get one before a slot is free. */
  reserve(handler: string, isChild?: boolean): WorkerId | null
  /** Releases a reservation whose run was not created. */
  unreserve(): void
  /** Takes over a new run that is leased to this worker. `isLeft`: its parent ended in the append that created it. */
  adopt(run: NewRun, base: number, sequence: number | null, isLeft: boolean): void
  /** True if this process has the run in memory and knows of no end: if it ends, this process most likely writes it. */
  isAtWork(run: RunId): boolean
  /** Makes these runs and coordinators look for changes now. */
  signal(streams: readonly ClaimableId[]): void
  cancel(tenant: TenantId, run: RunId, by: string, reason: string): Promise<void>
}
