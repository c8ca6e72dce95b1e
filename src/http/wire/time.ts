/**
 * Instants on the wire: RFC 3339 in UTC with milliseconds.
 *
 * Owns the conversion both ways. Never reads the clock.
 */
import type { Instant } from '#model/kernel/ids.ts'
import { isoTime } from '#model/kernel/iso-time.ts'

export { isoTime }

const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/

export const isoTimeOrNull = (instant: Instant | null): string | null => (instant === null ? null : isoTime(instant))

const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
]

/** Uses the largest unit that fits: 90 000 ms are `90s`. */
export const durationText = (ms: number): string => {
  const [unit, length] = UNITS.find(([, size]) => ms >= size && ms % size === 0) ?? ['ms', 1]
  return `${ms / length}${unit}`
}

/** Null if the text is not an instant; a time without an offset is not one. */
export const parseIsoTime = (text: string): Instant | null => {
  // biome-ignore lint/style/noRestrictedGlobals: reads an instant that was given, and asks no clock
  const instant = RFC_3339.test(text) ? Date.parse(text) : Number.NaN
  return Number.isFinite(instant) ? instant : null
}
