/**
 * When to tell the outside again what it did not take: a ladder over three days, each rung a little off, so that many do not come at once.
 *
 * Owns the ladder. Who is told, and what an answer means, is the notifier's.
 */
const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** How long after the try before. The first goes out at once. */
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

/** The pause after so many failed tries; null: that was the last. `roll` is in [0, 1). */
export const pauseAfter = (tries: number, roll: number): number | null => {
  const rung = LADDER_MS[tries - 1]
  return rung === undefined ? null : Math.round(rung * (1 - JITTER + 2 * JITTER * roll))
}
