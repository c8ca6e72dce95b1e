/**
 * A time zone: the wall time at an instant, and the instant of a wall time.
 *
 * Owns daylight saving, based on the offsets that Intl knows. A wall time is what a clock shows, counted in milliseconds as if
 * it were UTC. Never knows cron.
 *
 * zone-1  A wall time that is skipped is reached at the first instant after the gap; one that is repeated, on its first pass.
 */
import { invalid } from '#manifest/define/invalid.ts'
import type { Instant } from '#model/kernel/ids.ts'
import { DAY_MS, dayNumber, HOUR_MS, MINUTE_MS, SECOND_MS } from './civil.ts'

/** A period without a clock change: from `from` up to but not including `to`. */
export interface Span {
  readonly from: Instant
  readonly to: Instant
  readonly offsetMs: number
}

export interface Zone {
  /** The longest known period without a change around an instant; the next span begins at its end. */
  spanAt(instant: Instant): Span
  /** zone-1. */
  reach(wall: number): Instant
}

/** Clocks change at most once in this time. */
const BLOCK_MS = DAY_MS
const MAX_BLOCKS = 4_096

const PARTS: Intl.DateTimeFormatOptions = {
  calendar: 'gregory',
  numberingSystem: 'latn',
  hourCycle: 'h23',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
  hour: 'numeric',
  minute: 'numeric',
  second: 'numeric',
}
const SHOWN = /^(\d+)\/(\d+)\/(\d+), (\d+):(\d+):(\d+)$/

const formatterOf = (name: string, path: string): Intl.DateTimeFormat => {
  try {
    return new Intl.DateTimeFormat('en-US', { ...PARTS, timeZone: name })
  } catch (cause) {
    throw invalid(path, `"${name}" is not a time zone; write one like Europe/Berlin`, cause)
  }
}

const offsetBy = (formatter: Intl.DateTimeFormat, instant: Instant): number => {
  const whole = Math.floor(instant / SECOND_MS) * SECOND_MS
  const [month = 0, day = 0, year = 0, h = 0, m = 0, s = 0] = (SHOWN.exec(formatter.format(whole)) ?? [])
    .slice(1)
    .map(Number)
  return dayNumber(year, month, day) * DAY_MS + h * HOUR_MS + m * MINUTE_MS + s * SECOND_MS - whole
}

/** The first instant of [low, high] with another offset than `low`. */
const changeIn = (offsetAt: (instant: Instant) => number, low: Instant, high: Instant): Instant => {
  const before = offsetAt(low)
  let [same, other] = [low, high]
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2)
    if (offsetAt(middle) === before) same = middle
    else other = middle
  }
  return other
}

const measuredZone = (formatter: Intl.DateTimeFormat): Zone => {
  const blocks = new Map<number, readonly Span[]>()

  const measure = (from: Instant): readonly Span[] => {
    const to = from + BLOCK_MS
    const [before, after] = [offsetBy(formatter, from), offsetBy(formatter, to)]
    if (before === after) return [{ from, to, offsetMs: before }]
    const change = changeIn((instant) => offsetBy(formatter, instant), from, to)
    return [
      { from, to: change, offsetMs: before },
      { from: change, to, offsetMs: after },
    ]
  }

  const blockAt = (instant: Instant): readonly Span[] => {
    const block = Math.floor(instant / BLOCK_MS)
    const known = blocks.get(block)
    if (known !== undefined) return known
    if (blocks.size >= MAX_BLOCKS) blocks.clear()
    const spans = measure(block * BLOCK_MS)
    blocks.set(block, spans)
    return spans
  }

  const spanAt = (instant: Instant): Span => {
    const spans = blockAt(instant)
    return spans.findLast(({ from }) => from <= instant) ?? (spans[0] as Span)
  }

  return {
    spanAt,
    reach(wall) {
      // No zone is further than a day from UTC: the instant lies within a day of the wall time, and so does its change.
      let span = spanAt(wall - DAY_MS)
      while (wall - span.offsetMs >= span.to) span = spanAt(span.to)
      return Math.max(span.from, wall - span.offsetMs)
    },
  }
}

/** The next clock change of a zone before `until`, forward or back (less than 0); null: there is none. */
export const nextChange = (
  zone: Zone,
  after: Instant,
  until: Instant,
): { readonly at: Instant; readonly byMs: number } | null => {
  const { offsetMs } = zone.spanAt(after)
  for (let span = zone.spanAt(after); span.from < until; span = zone.spanAt(span.to))
    if (span.offsetMs !== offsetMs) return { at: span.from, byMs: span.offsetMs - offsetMs }
  return null
}

/** Zones opened so far: there are a few hundred in the world, and each caches its measurements. */
const opened = new Map<string, Zone>()

export const openZone = (name: string, path: string): Zone => {
  const known = opened.get(name)
  if (known !== undefined) return known
  const zone = measuredZone(formatterOf(name, path))
  opened.set(name, zone)
  return zone
}
