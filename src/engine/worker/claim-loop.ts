/**
 * When a worker asks the ledger for what is due: one question at a time, at most one per turn, and again while there may be more.
 *
 * Owns that rhythm. What is asked and how much is the worker's.
 */
import type { Clock } from '#ports/clock.ts'

export interface ClaimLoopDeps {
  readonly clock: () => Clock
  /** Whether something may be claimed at all now. */
  readonly isTaking: () => boolean
  readonly hasRoom: () => boolean
  /** True if there may be more. */
  readonly claimSome: () => Promise<boolean>
  /** Nothing more is asked for now. */
  readonly rested: () => void
}

export class ClaimLoop {
  private readonly deps: ClaimLoopDeps
  private isClaiming = false
  private isScheduled = false
  /** Something may be due that was not asked for yet. */
  isWanted = false

  constructor(deps: ClaimLoopDeps) {
    this.deps = deps
  }

  /** Something is due that this worker has asked for or will ask for. */
  get isUnderWay(): boolean {
    return this.isWanted || this.isClaiming
  }

  soon(): void {
    if (!this.deps.isTaking()) return
    this.isWanted = true
    if (this.isScheduled || this.isClaiming) return
    this.isScheduled = true
    this.deps.clock().turn(() => {
      this.isScheduled = false
      void this.claimAll()
    })
  }

  private async claimAll(): Promise<void> {
    const { isTaking, hasRoom, claimSome, rested } = this.deps
    this.isClaiming = true
    try {
      while (this.isWanted && isTaking() && hasRoom()) {
        this.isWanted = false
        if (await claimSome()) this.isWanted = true
      }
    } catch {
      // The store is away: the poll tries again, and readiness shows it.
    } finally {
      this.isClaiming = false
    }
    rested()
  }
}
