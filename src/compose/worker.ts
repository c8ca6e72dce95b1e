/**
 * The identity of this process among the workers of its ledger.
 *
 * Owns its name and its placement, from its options and from what the pools of the system say. Contains no rules.
 */
import { placeIn } from '#manifest/define/placement.ts'
import type { System } from '#manifest/define/system.ts'
import { type WorkerId, workerId } from '#model/kernel/ids.ts'
import type { WorkerPlace } from '#model/worker/worker-info.ts'
import type { Ids } from '#ports/ids.ts'

export interface WorkerIdentity {
  readonly id: WorkerId
  readonly name: string
  readonly slots: number
  readonly place: WorkerPlace
}

interface Told {
  readonly pool?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly name?: string
  readonly slots?: number
}

const NAME_DIGITS = 6
export const DEFAULT_SLOTS = 1_024

export const identityOf = (system: System, ids: Ids, { pool, labels, ...told }: Told): WorkerIdentity => {
  const id = workerId(ids.uuid())
  const { slots, ...place } = placeIn(system.pools, {
    ...(pool === undefined ? {} : { pool }),
    ...(labels === undefined ? {} : { labels }),
  })
  const name = told.name ?? `${pool ?? 'worker'}-${id.slice(-NAME_DIGITS)}`
  return { id, name, slots: told.slots ?? slots ?? DEFAULT_SLOTS, place }
}
