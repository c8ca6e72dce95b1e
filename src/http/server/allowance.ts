/**
 * Limits of one credential: requests a second, and open streams.
 *
 * Owns the counts, in memory: each server process counts for itself, and a restart forgets. Where no credential is needed (loopback)
 * nothing is limited. The ledger has its own limit for all callers together (engine/worker/waiting-room.ts).
 *
 * allowance-1  A credential that sends requests faster than its rate is refused with the seconds after which it may retry; others are not.
 * allowance-2  However many credentials there are, only the 10,000 that were used last are remembered.
 * allowance-3  A credential opens no more streams than its limit; one that ends makes room for the next.
 */
import type { Instant } from '#model/kernel/ids.ts'
import { TooManyRequests } from './problem.ts'

export interface Limits {
  /** Requests a second of one credential; a burst may be twice as large. Null: no limit. */
  readonly requestRate: number | null
  /** Open streams of one credential. */
  readonly streams: number
}

/** From guide/reliability.md §5.9. */
export const USUAL_LIMITS: Limits = { requestRate: 100, streams: 100 }

const BURST = 2
const MOST_KNOWN = 10_000
const SECOND_MS = 1_000
/** The wait that a refusal names: a stream ends when its reader leaves, which cannot be predicted. */
const STREAM_WAIT_S = 5

interface Bucket {
  readonly left: number
  readonly at: Instant
}

export class Allowance {
  readonly #limits: Limits
  /** By the public name of a token, the one used last at the end. */
  readonly #buckets = new Map<string, Bucket>()
  readonly #streams = new Map<string, number>()

  constructor(limits: Limits = USUAL_LIMITS) {
    this.#limits = limits
  }

  /** allowance-1: counts one request, or refuses it. */
  take(credential: string, now: Instant): void {
    const { requestRate: rate } = this.#limits
    if (rate === null) return
    const { left: before, at } = this.#buckets.get(credential) ?? { left: rate * BURST, at: now }
    // A clock that was set back neither refills the bucket nor drains it.
    const left = Math.min(rate * BURST, before + (Math.max(0, now - at) * rate) / SECOND_MS)
    this.#buckets.delete(credential)
    this.#buckets.set(credential, { left: left < 1 ? left : left - 1, at: now })
    if (this.#buckets.size > MOST_KNOWN) this.#buckets.delete(this.#buckets.keys().next().value ?? '')
    if (left < 1)
      throw new TooManyRequests(
        `this credential sends more than ${rate} requests per second`,
        Math.max(1, Math.ceil((1 - left) / rate)),
      )
  }

  /** allowance-3: returns the function that releases the place. */
  openStream(credential: string): () => void {
    const { streams } = this.#limits
    const open = this.#streams.get(credential) ?? 0
    if (open >= streams) throw new TooManyRequests(`this credential already has ${open} open streams`, STREAM_WAIT_S)
    this.#streams.set(credential, open + 1)
    let isOpen = true
    return () => {
      if (!isOpen) return
      isOpen = false
      const left = (this.#streams.get(credential) ?? 1) - 1
      if (left === 0) this.#streams.delete(credential)
      else this.#streams.set(credential, left)
    }
  }
}
