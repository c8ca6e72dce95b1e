/**
 * What is known of a run when it comes into memory: what never changes while it stays, and where its facts have come to.
 *
 * Owns the shapes, and how a run that was just born fills them. Who reads them from the ledger is claimed.ts.
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
  /** The version that it was born with, and the one that it belongs to now; NO_VERSION: to none (model/worker/pin.ts). */
  readonly versions: { readonly born: string; readonly now: string }
}

/** Where its facts have come to. */
export interface RunSnapshot {
  readonly state: RunState
  readonly head: ChainHead
}

/** `sequence`: of the event that started it, if one did. `here`: the tenant of whoever made it, if its birth names none. */
export const rowOfNewRun = (run: NewRun, here: TenantId, base: number, sequence: number | null): RunRow => {
  const { id, handler, session, parent } = run
  const event = run.event === null || sequence === null ? null : stored(run.event, sequence)
  const { tenant = here, lease = null, systemHash = NO_VERSION } = run.write.create ?? {}
  const versions = { born: systemHash, now: systemHash }
  return { id, tenant, handler, session, parent, event, base, lease, epoch: 1, signal: 0, versions }
}
