/**
 * What an engine is made of: the ports and the choices that whoever assembles it brings.
 *
 * Owns the list. Joins nothing (engine.ts).
 */
import type { StepErrors } from '#engine/step/gate.ts'
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
  /** Absent: keys are known by their form alone. */
  readonly redaction?: Redaction
  readonly dispatcher: Dispatcher
  /** Why wakes do not arrive; null: they do. Absent: the dispatcher lives in this process. */
  readonly checkDispatcher?: () => Promise<string | null>
  /** The built-in ones; a system brings its own. */
  readonly executors: ReadonlyMap<string, Executor>
  /** Reaches executors that stand elsewhere. Absent: there are none. */
  readonly remote?: (definition: RemoteDefinition) => Executor
  /** Absent: nobody knows. */
  readonly price?: PriceOf
  readonly enter: EnterHandler
  readonly errors: StepErrors
  readonly system: System
  /** Absent: there are no documents. */
  readonly document?: Reader['document']
  readonly documents?: Reader['documents']
  readonly suppressed?: Reader['suppressed']
  /** Which runs name another as their parent. Absent: nobody knows. */
  readonly children?: Reader['children']
  /** Who else works on this ledger. Absent: nobody. */
  readonly workers?: Reader['workers']
  /** Hints of what other processes commit. Absent: there are none. */
  readonly changeFeed?: Pick<ChangeFeed, 'follow'>
}

export interface EngineOptions {
  readonly tenant?: TenantId
  readonly commit: CommitOptions
  /** How many callers wait for the ledger, and how long, before others are refused. Absent: as usual for a program. */
  readonly intake?: WaitingLimits
  readonly worker: WorkerOptions
}
