/**
 * When a worker looks for runs of other versions than its own: with each poll, and at a wake while such runs are expected.
 *
 * Owns the moment. Which of them it takes is share.ts's and the ledger's.
 *
 * other-versions-1  After a run was taken over, a wake leads to a look for more: a process that starts runs and has another version,
 *                   and no worker, waits for no poll. Where all processes have one version, a wake costs no such look.
 */
import type { Instant } from '#model/kernel/ids.ts'

/** So long after the last run that was taken over, the next may come at any moment. */
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

  /** Whether the claim that begins now looks for them. A wake that comes before its answer asks for a look of its own. */
  begin(): boolean {
    const { isWanted } = this
    this.isWanted = false
    return isWanted
  }

  /** So many were taken over: there may be more. */
  taken(count: number, now: Instant): void {
    if (count === 0) return
    this.isWanted = true
    this.expectedUntil = now + EXPECTED_MS
  }
}
