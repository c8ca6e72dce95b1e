/**
 * Time and turns: the only way the engine learns what time it is, and the only way it asks to be called later.
 *
 * A timer may fire late, never early by `now()`. Nothing here is durable.
 */
import type { Instant } from '#model/kernel/ids.ts'

export interface Clock {
  now(): Instant
  /**
   * Milliseconds that never go back, whatever is done to the wall clock. Absent: use `now`. Neither clock notices every pause: the wall
   * clock may be set back, and this one stops while the machine sleeps.
   */
  monotonic?(): number
  /** Calls back at or after the instant. The returned function cancels the callback. */
  at(instant: Instant, callback: () => void): () => void
  /** Calls back after everything that is ready now has run. Cannot be cancelled. */
  defer(callback: () => void): void
}
