/**
 * What is known of a run when it comes into memory: the data that never changes while it stays, and the state of its facts.
 *
 * Owns the types, and how a new run fills them. They are read from the ledger by worker/claimed.ts.
 */
import type { ChainHead } from '#engine/core/chain.ts'
import { type StoredEvent, stored } from '#model/event/event.ts'
import type { ClaimableId, RunId, SessionId, TenantId, WorkerId } from '#model/kernel/ids.ts'
import type { RunState } from '#model/run/fact.ts'
import { NO_VERSION } from '#model/worker/pin.ts'
import type { NewRun } from './new-run.ts'

export interface RunRow {
  readonly id: RunId
  readonly tenant: TenantId
  readonly handler: string
  readonly session: SessionId | null
  readonly parent: ClaimableId | null
  readonly event: StoredEvent | null
  readonly base: number
  /** The name under which this worker holds it. */
  readonly lease: WorkerId | null
  readonly epoch: number
  readonly signal: number
  /** The version that it was created with, and the one that it belongs to now; NO_VERSION: to none (model/worker/pin.ts). */
  readonly versions: { readonly born: string; readonly now: string }
}

/** The state after the run's facts, and the head of their chain. */
export interface RunSnapshot {
  readonly state: RunState
  readonly head: ChainHead
}

/** `sequence`: that of the event that started it, if one did. `here`: the creator's tenant, used if the creation names none. */
export const rowOfNewRun = (run: NewRun, here: TenantId, base: number, sequence: number | null): RunRow => {
  const { id, handler, session, parent } = run
  const event = run.event === null || sequence === null ? null : stored(run.event, sequence)
  const { tenant = here, lease = null, systemHash = NO_VERSION } = run.write.create ?? {}
  const versions = { born: systemHash, now: systemHash }
  return { id, tenant, handler, session, parent, event, base, lease, epoch: 1, signal: 0, versions }
}
