/** The choices of one worker: its name, its slots, how often it beats and polls. */
import type { WorkerId } from '#model/kernel/ids.ts'
import type { WorkerPlace } from '#model/worker/worker-info.ts'

export interface WorkerOptions {
  readonly id: WorkerId
  readonly slots: number
  readonly leaseTtlMs: number
  readonly pollMs: number
  /** How often the leases of the dead are looked for where other workers share the store. Absent: with every third of the lease. */
  readonly sweepMs?: number
  /** No other process can write this ledger. Absent: another one may. */
  readonly isAlone?: boolean
  readonly drainMs: number
  /** What it is called by people. Absent: it tells nothing of itself and takes no orders. */
  readonly name?: string
  /** Absent: no pool, no label, every module. */
  readonly place?: WorkerPlace
  /** Whether the dispatcher hears when a parked run falls due. Absent: this worker's own timer and everybody's polls are enough. */
  readonly tellsInstants?: boolean
}
