/**
 * Decides when a worker claims due work: one claim at a time, at most one start per turn of the event loop, again while there may be more.
 *
 * Owns the timing. The worker decides what is claimed and how much.
 */
import type { Clock } from '#ports/clock.ts'

export interface ClaimLoopDeps {
  readonly clock: () => Clock
  /** True if anything may be claimed now. */
  readonly isTaking: () => boolean
  readonly hasRoom: () => boolean
  /** Claims once. Returns true if there may be more. */
  readonly claimSome: () => Promise<boolean>
  /** Called when a round of claims is over. */
  readonly rested: () => void
}

export class ClaimLoop {
  private readonly deps: ClaimLoopDeps
  private isClaiming = false
  private isScheduled = false
  /** True if something may be due that was not claimed yet. */
  isWanted = false

  constructor(deps: ClaimLoopDeps) {
    this.deps = deps
  }

  /** True if a claim is under way or will follow. */
  get isUnderWay(): boolean {
    return this.isWanted || this.isClaiming
  }

  soon(): void {
    if (!this.deps.isTaking()) return
    this.isWanted = true
    if (this.isScheduled || this.isClaiming) return
    this.isScheduled = true
    this.deps.clock().defer(() => {
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
      // The store is unavailable: the next poll tries again, and readiness shows it.
    } finally {
      this.isClaiming = false
    }
    rested()
  }
}
