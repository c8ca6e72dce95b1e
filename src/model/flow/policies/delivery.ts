/**
 * Back-off of deliveries to the outside that failed: a list of pauses over three days, each with jitter, so that many do not come at once.
 *
 * Owns the list. The notifier decides who is notified, and what an answer means.
 */
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** The pause after the previous attempt. The first attempt is made at once. */
const LADDER_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const
const JITTER = 0.2

/** Returns the pause after this many failed attempts; null: that was the last. `roll` is in [0, 1). */
export const pauseAfter = (tries: number, roll: number): number | null => {
  const rung = LADDER_MS[tries - 1]
  return rung === undefined ? null : Math.round(rung * (1 - JITTER + 2 * JITTER * roll))
}
