/**
 * What the arrows of the engine hold in common: the ports they were given and the small services built on them.
 *
 * Owns the list. Each part takes this and uses what it needs; nobody but commit can write the ledger.
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
import type { Entry } from '#ports/step-gate.ts'
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
  /** What is written, told and streamed goes through it: no secret leaves with it. */
  readonly redaction: Redaction
  readonly deadlines: Deadlines
  readonly executors: Executors
  /** What tokens of a model cost. */
  readonly price: PriceOf
  readonly publish: Publish
  /** Who counts; asked before anything is measured. */
  readonly observers: Observers
  /** Answers on their way. */
  readonly deltas: TokenStream
  readonly tenant: TenantId
  /** The definition in force: new runs are pinned to its hash. */
  readonly system: () => System
  readonly enter: EnterHandler
  readonly worker: WorkerApi
  readonly circuits: Circuits
  /** Where throttled runs ask for their start. */
  readonly starts: StartApi
  readonly gates: GateApi
  /** What decisions of tasks need of the world. */
  readonly taskWorld: TaskWorld
  /** A document of a managed table, as it is now. */
  readonly document: Reader['document']
  readonly documents: Reader['documents']
  /** False: nothing reads documents here, and what is needed later must not be in one. */
  readonly hasDocuments: boolean
  /** Why handlers without flow control did not start by an event. */
  readonly suppressed: Reader['suppressed']
  /** Which runs name another as their parent: also those that it has not recorded. */
  readonly children: Reader['children']
  /** New for every append. Short: it stands beside every fact. */
  readonly appendId: () => string
}

/** Calls a handler's code: what is entered is chosen by its modality. */
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
  /** The gate that runs of this handler pass; null: there is none. */
  gateFor(handler: string): GateId | null
  /** The run that the call comes to; a gate that turns it away throws. */
  call(handler: string, asked: AskedRun): Promise<RunId>
  /** Whether a run that has ended may go on, now or when it is its turn; a gate that turns it away throws. */
  retry(handler: string, asked: AskedRetry): Promise<RetryAnswer>
  /** What an append must carry so that the gate takes these. */
  pass(handler: string, asked: readonly AskedRun[]): Promise<Spawned>
  /** Whether this handler may still start a run for the event. */
  isUndecided(handler: string, event: StoredEvent): Promise<boolean>
  /** From now on the end of this run, which has the key of a call, wakes the run that called. */
  follow(handler: string, run: RunId, by: RunId): Promise<void>
  /** Whether the end of such a run must be told to the gate beside its parent. */
  hearsEnd(handler: string, parent: ClaimableId | null): GateId | null
  /** Takes back a call that waits. False: no call with this run waits there. */
  withdraw(handler: string, run: RunId, why: { readonly by: string; readonly detail: string }): Promise<boolean>
}

/** A run in memory that may have to ask for its start. */
export interface StartingRun {
  readonly record: { readonly id: RunId; readonly handler: string }
  readonly live: LiveRun | null
}

/** What a run that is about to be entered may ask of its throttle. */
export interface StartApi {
  /** Whether it may have to ask at all. */
  holds(run: StartingRun): boolean
  /**
   * `now`: it begins, and says so by `made`. `free`: it needs no start, since it has begun before or was born without a throttle. An
   * instant: it parks until then. `never`: it may not begin any more (`isOpen`).
   */
  admit(run: StartingRun, isOpen: () => boolean): Promise<Instant | 'now' | 'free' | 'never'>
  /** Its handler was entered. */
  made(run: StartingRun): void
}

/** What the rest of the engine may ask about leases. */
export interface LeaseApi {
  /** How long a silent worker keeps its leases, in milliseconds. */
  readonly ttlMs: number
  /** Whether no other worker can have taken the leases of this one: it has said not long ago that it lives. */
  readonly isSure: boolean
  /** Asks the ledger whether this lease is still held here, after saying that this worker lives. */
  holds(run: RunId, epoch: number): Promise<boolean>
  /** Whether the process of the worker with this name is known to have ended. Null: a name that was not recorded. */
  isGone(worker: WorkerId | null): boolean
}

/** What the rest of the engine may ask of the worker in this process. */
export interface WorkerApi {
  /** Everything was stopped: no step begins here. */
  readonly isStopped: boolean
  readonly leases: LeaseApi
  /** A lease for a run of this handler about to be created, if there is room to start it here and it belongs here. A child may be born ahead of its room. */
  reserve(handler: string, isChild?: boolean): WorkerId | null
  /** Gives back a reservation whose run was not created. */
  unreserve(): void
  /** Takes a created run on which this worker has the lease. `isLeft`: its parent ended with its birth. */
  adopt(run: NewRun, base: number, sequence: number | null, isLeft: boolean): void
  /** These runs and coordinators are worth looking at now. */
  signal(streams: readonly ClaimableId[]): void
  cancel(tenant: TenantId, run: RunId, by: string, reason: string): Promise<void>
}
