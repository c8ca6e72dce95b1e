/**
 * Decides when a worker looks for runs of other versions than its own: with each poll, and at a wake while such runs are expected.
 *
 * Owns the timing. claim-filter.ts and the ledger decide which of them it takes.
 *
 * other-versions-1  After a run was taken over, each wake also looks for more of them: runs that are started by a process with another
 *                   version and no worker do not wait for a poll. Where all processes have one version, a wake costs no extra look.
 */
import type { Instant } from '#model/kernel/ids.ts'

/** For this long after the last run that was taken over, more of them are expected. */
const EXPECTED_MS = 600_000

export class OtherVersions {
  private readonly claimSoon: () => void
  private isWanted = true
  private expectedUntil = 0

  constructor(claimSoon: () => void) {
    this.claimSoon = claimSoon
  }

  polled(): void {
    this.isWanted = true
    this.claimSoon()
  }

  woken(now: Instant): void {
    if (now < this.expectedUntil) this.isWanted = true
    this.claimSoon()
  }

  /** True if the claim that begins now looks for them. A wake that comes before its answer leads to another look. */
  begin(): boolean {
    const { isWanted } = this
    this.isWanted = false
    return isWanted
  }

  /** `count` runs were taken over: there may be more. */
  taken(count: number, now: Instant): void {
    if (count === 0) return
    this.isWanted = true
    this.expectedUntil = now + EXPECTED_MS
  }
}
