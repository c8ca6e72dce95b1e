/**
 * What an engine is built from: the ports and options that the assembling code provides.
 *
 * Owns the list. Connects nothing (engine.ts).
 */
import type { StepErrors } from '#engine/step/step-driver.ts'
import type { WaitingLimits } from '#engine/worker/waiting-room.ts'
import type { WorkerOptions } from '#engine/worker/worker-options.ts'
import type { RemoteDefinition } from '#manifest/define/executors.ts'
import type { System } from '#manifest/define/system.ts'
import type { PriceOf } from '#model/agent/usage.ts'
import type { TenantId } from '#model/kernel/ids.ts'
import type { Redaction } from '#model/kernel/redaction.ts'
import type { Blobs } from '#ports/blobs.ts'
import type { ChangeFeed } from '#ports/change-feed.ts'
import type { Clock } from '#ports/clock.ts'
import type { Dispatcher } from '#ports/dispatcher.ts'
import type { Executor } from '#ports/executor.ts'
import type { Ids } from '#ports/ids.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { Reader } from '#ports/reader.ts'
import type { CommitOptions } from './commit.ts'
import type { EnterHandler } from './engine-context.ts'

export interface EngineDeps {
  readonly ledger: Ledger
  readonly blobs: Blobs
  readonly clock: Clock
  readonly ids: Ids
  /** Absent: secrets are recognised by their form alone. */
  readonly redaction?: Redaction
  readonly dispatcher: Dispatcher
  /** Returns why wakes do not arrive; null if they do. Absent: the dispatcher runs in this process. */
  readonly checkDispatcher?: () => Promise<string | null>
  /** The built-in executors; a system adds its own. */
  readonly executors: ReadonlyMap<string, Executor>
  /** Connects to executors outside this process. Absent: there are none. */
  readonly remote?: (definition: RemoteDefinition) => Executor
  /** Absent: no price is known. */
  readonly price?: PriceOf
  readonly enter: EnterHandler
  readonly errors: StepErrors
  readonly system: System
  /** Absent: there are no documents. */
  readonly document?: Reader['document']
  readonly documents?: Reader['documents']
  readonly suppressed?: Reader['suppressed']
  /** Reads the runs that name a run as their parent. Absent: none are known. */
  readonly children?: Reader['children']
  /** Reads the workers on this ledger. Absent: none are known. */
  readonly workers?: Reader['workers']
  /** Hints about commits of other processes. Absent: there are none. */
  readonly changeFeed?: Pick<ChangeFeed, 'follow'>
}

export interface EngineOptions {
  readonly tenant?: TenantId
  readonly commit: CommitOptions
  /** How many callers wait for the ledger, and how long, before others are refused. Absent: the limits for a program (intake.ts). */
  readonly intake?: WaitingLimits
  readonly worker: WorkerOptions
}
