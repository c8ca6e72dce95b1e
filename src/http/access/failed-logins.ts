/**
 * Counts wrong tokens by address: an address that sends too many of them must wait.
 *
 * Owns the count, in memory and for a limited number of addresses. A restart forgets it, which is safe: a token of 32 random bytes cannot
 * be guessed. The limit spares the server work and keeps its log short. Never knows what a token is (auth.ts).
 *
 * failures-1  An address that has sent ten wrong tokens waits until a minute has passed since the first of them.
 * failures-2  However many addresses there are, only the newest 10,000 are remembered.
 */
import type { Instant } from '#model/kernel/ids.ts'

const MOST_FAILURES = 10
const WINDOW_MS = 60_000
const MOST_ADDRESSES = 10_000
const SECOND_MS = 1_000

interface Window {
  readonly until: Instant
  readonly failures: number
}

/** Null: the address of a request is not known, and then it never has to wait. */
export type Address = string | null

export class FailedLogins {
  /** In the order of their first failures. */
  private readonly windows = new Map<string, Window>()

  /** How many seconds the address must wait; null: it may try. */
  waitOf(address: Address, now: Instant): number | null {
    const window = this.windowOf(address, now)
    if (window === null || window.failures < MOST_FAILURES) return null
    return Math.ceil((window.until - now) / SECOND_MS)
  }

  failed(address: Address, now: Instant): void {
    if (address === null) return
    const window = this.windowOf(address, now) ?? { until: now + WINDOW_MS, failures: 0 }
    this.windows.set(address, { ...window, failures: window.failures + 1 })
    if (this.windows.size > MOST_ADDRESSES) this.windows.delete(this.windows.keys().next().value ?? '')
  }

  private windowOf(address: Address, now: Instant): Window | null {
    if (address === null) return null
    const window = this.windows.get(address)
    if (window !== undefined && window.until > now) return window
    this.windows.delete(address)
    return null
  }
}
