/** The options of one worker (its name, its slots, its heartbeat and polling intervals) and the parts that it is given. */
import type { FindLogic } from '#engine/coordinators/coordinators.ts'
import type { EngineContext } from '#engine/core/engine-context.ts'
import type { StepErrors } from '#engine/step/step-driver.ts'
import type { TenantId, WorkerId } from '#model/kernel/ids.ts'
import type { WorkerPlace } from '#model/worker/worker-info.ts'
import type { Dispatcher } from '#ports/dispatcher.ts'
import type { Ledger } from '#ports/ledger.ts'
import type { Reader } from '#ports/reader.ts'

export interface WorkerOptions {
  readonly id: WorkerId
  readonly slots: number
  readonly leaseTtlMs: number
  readonly pollMs: number
  /** How often the leases of dead workers are freed where other workers share the store. Default: every third of the lease. */
  readonly sweepMs?: number
  /** True if no other process can write this ledger. Default: another one may. */
  readonly isAlone?: boolean
  readonly drainMs: number
  /** Display name for people. Absent: the worker publishes nothing about itself and follows no orders. */
  readonly name?: string
  /** Default: no pool, no label, every module. */
  readonly place?: WorkerPlace
  /** Notifies the dispatcher when a parked run will be due. Default: this worker's own timer and the polls of all workers are enough. */
  readonly tellsInstants?: boolean
}

export interface WorkerDeps {
  readonly context: () => EngineContext
  readonly contextOf: (tenant: TenantId) => EngineContext
  readonly ledger: Pick<Ledger, 'load' | 'events' | 'claim' | 'beat' | 'retire'>
  readonly dispatcher: Dispatcher
  readonly errors: StepErrors
  readonly workers: Reader['workers']
  readonly findLogic: FindLogic
}
