/**
 * The calendar of a schedule: its slots as instants, from cron, an interval or one moment, minus exclusions.
 *
 * Owns the effect of daylight saving on a slot, the bounds and the jitter. What happens to a slot is model/schedule/schedule.ts.
 *
 * calendar-1  A named hour that is skipped runs at the first instant after the gap, several of them once; one that is repeated
 *             runs on its first pass. Where the hour field begins with `*`, elapsed time counts: both passes run.
 * calendar-2  Slots are in order, each once, and a slot's jitter ends before the next slot begins.
 */
import type { Instant } from '#model/kernel/ids.ts'
import type { Calendar, CalendarOf, Exclusion, ScheduleSpec, Timing } from '#model/schedule/spec.ts'
import { DAY_MS, parseDate } from './civil.ts'
import { parseCron, type WallCalendar } from './cron.ts'
import { openZone, type Zone } from './zone.ts'

/** The first slot after an instant; null if there is none. */
type Grid = (after: Instant) => Instant | null
/** Null: the slot stays. Else the first instant that this exclusion may leave. */
type Cut = (slot: Instant) => Instant | null

/** If exclusions leave no slot for this long, they leave none at all. The longest pause of any cron is 8 years, around 2100. */
const GIVE_UP_MS = 3_660 * DAY_MS

/** calendar-1, named hours: each wall time once, when clocks first reach it. */
const namedHours =
  (walls: WallCalendar, zone: Zone): Grid =>
  (after) => {
    let wall = walls.firstFrom(after + zone.spanAt(after).offsetMs + 1)
    // On the second pass of a repeated hour, clocks show times whose slots are past.
    while (wall !== null && zone.reach(wall) <= after) wall = walls.firstFrom(wall + 1)
    return wall === null ? null : zone.reach(wall)
  }

/** calendar-1, elapsed hours: every instant at which the clocks show a wall time of the calendar. */
const elapsedHours =
  (walls: WallCalendar, zone: Zone): Grid =>
  (after) => {
    let from = after + 1
    for (;;) {
      const { to, offsetMs } = zone.spanAt(from)
      const wall = walls.firstFrom(from + offsetMs)
      if (wall === null) return null
      if (wall - offsetMs < to) return wall - offsetMs
      // No zone is two days from UTC, so nothing lies in between.
      from = Math.max(to, wall - 2 * DAY_MS)
    }
  }

const gridOf = (timing: Timing, zone: Zone): Grid => {
  switch (timing.kind) {
    case 'cron': {
      const walls = parseCron(timing.expression, 'cron')
      return walls.everyHour ? elapsedHours(walls, zone) : namedHours(walls, zone)
    }
    case 'every': {
      const { everyMs, phaseMs } = timing
      return (after) => (Math.floor((after - phaseMs) / everyMs) + 1) * everyMs + phaseMs
    }
    case 'at':
      return (after) => (timing.at > after ? timing.at : null)
    case 'in':
      // It gets an instant when it is stored in a ledger.
      return () => null
  }
}

const cutOf = (exclusion: Exclusion, zone: Zone): Cut => {
  const dayOf = (slot: Instant): number => Math.floor((slot + zone.spanAt(slot).offsetMs) / DAY_MS)
  // At least one instant later, because clocks may go back to a day that they had left.
  const endOf = (day: number, slot: Instant): Instant => Math.max(slot + 1, zone.reach((day + 1) * DAY_MS))
  switch (exclusion.kind) {
    case 'span':
      return (slot) => (slot >= exclusion.from && slot < exclusion.to ? exclusion.to : null)
    case 'days': {
      const [from, to] = [parseDate(exclusion.from) ?? 0, parseDate(exclusion.to) ?? 0]
      return (slot) => (dayOf(slot) >= from && dayOf(slot) <= to ? endOf(to, slot) : null)
    }
    case 'cron': {
      const walls = parseCron(exclusion.expression, 'exclude')
      return (slot) => {
        const wall = slot + zone.spanAt(slot).offsetMs
        const past = wall - Math.floor(wall / walls.grainMs) * walls.grainMs
        if (walls.firstFrom(wall - past) !== wall - past) return null
        return walls.wholeDays ? endOf(dayOf(slot), slot) : slot - past + walls.grainMs
      }
    }
  }
}

const without =
  (grid: Grid, cuts: readonly Cut[]): Grid =>
  (after) => {
    const cut = (slot: Instant): Instant => cuts.reduce((end, exclude) => Math.max(end, exclude(slot) ?? 0), 0)
    for (let slot = grid(after); slot !== null; ) {
      const end = cut(slot)
      if (end === 0) return slot
      if (end > after + GIVE_UP_MS) return null
      slot = grid(end - 1)
    }
    return null
  }

/** Maps a text to a number between 0 and 1. */
const spread = (digest: (text: string) => string, text: string): number => {
  let hash = 0x811c9dc5
  for (const letter of digest(text)) hash = Math.imul(hash ^ letter.charCodeAt(0), 0x01000193)
  return (hash >>> 0) / 2 ** 32
}

const open = (spec: ScheduleSpec, place: (slot: Instant) => number): Calendar => {
  const zone = openZone(spec.tz, 'tz')
  const grid = without(
    gridOf(spec.timing, zone),
    spec.exclude.map((exclusion) => cutOf(exclusion, zone)),
  )
  const next: Grid = (after) => {
    const slot = grid(spec.start === null ? after : Math.max(after, spec.start - 1))
    return slot === null || (spec.end !== null && slot > spec.end) ? null : slot
  }
  return {
    *slots(after, until) {
      for (let slot = next(after); slot !== null && slot <= until; slot = next(slot)) yield slot
    },
    // calendar-2
    delayMs(slot) {
      if (spec.jitterMs === 0) return 0
      const room = Math.min(spec.jitterMs, (next(slot) ?? Number.POSITIVE_INFINITY) - slot)
      return Math.floor(place(slot) * room)
    },
  }
}

/** The calendars of one schedule. The jitter depends only on the schedule's name and the slot, so that all processes agree on the instant. */
export const calendarsOf = (schedule: string, digest: (text: string) => string): CalendarOf => {
  const opened = new WeakMap<ScheduleSpec, Calendar>()
  return (spec) => {
    const known = opened.get(spec)
    if (known !== undefined) return known
    const calendar = open(spec, (slot) => spread(digest, `${schedule}@${slot}`))
    opened.set(spec, calendar)
    return calendar
  }
}
