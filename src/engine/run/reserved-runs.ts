/**
 * Runs that were created with a lease of this worker while no slot was free: they wait here in order, and begin as slots become free.
 *
 * Owns the queue, and whether a free slot goes to it or to other work. Never begins a run (worker/worker.ts).
 *
 * reserved-runs-1  While other work is due, every second free slot is left to it.
 * reserved-runs-2  A run that others wrote to while it waits begins from what the ledger holds, not from what is remembered here.
 * reserved-runs-3  Runs are created ahead of a free slot only if no other worker could have a slot for them, and only up to a bound.
 */
import type { ClaimableId, RunId, WorkerId } from '#model/kernel/ids.ts'
import type { Claim } from '#ports/ledger.ts'
import type { NewRun } from './new-run.ts'
import type { RunRow } from './run-row.ts'

export interface ReservedRun {
  readonly run: NewRun
  readonly record: RunRow
  /** reserved-runs-2. */
  isChanged: boolean
}

/** Makes a claim of a reserved run, so that it is loaded from the ledger. */
export const claimOfReserved = ({ run, record }: ReservedRun): Claim => {
  const { id: stream, tenant, epoch, signal } = record
  return { stream, tenant, version: run.head.version, epoch, signal }
}

/** Bounds the memory that they take; further runs wait in the ledger and are claimed. */
const MAX_AHEAD = 16_384

export class ReservedRuns {
  private readonly maxAhead: number
  private readonly waiting = new Map<ClaimableId, ReservedRun>()
  /** The runs in `waiting`, in order of arrival; an array, because a Map that is emptied from its front is slow there. */
  private line: ReservedRun[] = []
  private begun = 0
  private isOthersTurn = false

  constructor(isAlone: boolean) {
    this.maxAhead = isAlone ? MAX_AHEAD : 0
  }

  get size(): number {
    return this.waiting.size
  }

  /** reserved-runs-3: how many more runs may be created without a free slot. */
  get room(): number {
    return this.maxAhead - this.waiting.size
  }

  has(run: RunId): boolean {
    return this.waiting.has(run)
  }

  /** True if the run waits here and no other writer has changed it. */
  isUnchanged(run: RunId): boolean {
    return this.waiting.get(run)?.isChanged === false
  }

  /** Whether one of them is leased under this name. */
  needs(name: WorkerId): boolean {
    return [...this.waiting.values()].some(({ record }) => record.lease === name)
  }

  add(run: NewRun, record: RunRow, isChanged = false): void {
    const reservedRun = { run, record, isChanged }
    this.waiting.set(record.id, reservedRun)
    this.line.push(reservedRun)
  }

  /** Marks a run that others wrote to. False: it does not wait here. */
  change(id: ClaimableId): boolean {
    const reservedRun = this.waiting.get(id)
    if (reservedRun !== undefined) reservedRun.isChanged = true
    return reservedRun !== undefined
  }

  /** Takes the next run for a slot that has become free; null: there is none, or the slot is for other work that is due. */
  next(isOtherDue: boolean): ReservedRun | null {
    // reserved-runs-1
    this.isOthersTurn = isOtherDue && !this.isOthersTurn
    if (this.isOthersTurn) return null
    const reservedRun = this.line[this.begun]
    if (reservedRun === undefined) return null
    this.begun += 1
    this.waiting.delete(reservedRun.record.id)
    if (this.begun === this.line.length) {
      this.line = []
      this.begun = 0
    }
    return reservedRun
  }
}
