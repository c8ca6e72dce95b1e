/**
 * Computes slots by brute force: what a clock in the zone shows, every five minutes.
 *
 * Owns an independent calendar: it walks instants with the process's own local time and uses no Intl, no croner and no conversion from a
 * wall time to an instant.
 */
export interface Pattern {
  readonly cron: string
  readonly minutes: readonly number[]
  readonly hours: readonly number[]
  /** The hour field begins with a star. */
  readonly elapsed: boolean
}

const STEP_MS = 300_000
const HOUR_MS = 3_600_000

/** The process uses this zone while `look` runs. */
export const inZone = <Result>(zone: string, look: () => Result): Result => {
  const before = process.env['TZ']
  process.env['TZ'] = zone
  try {
    return look()
  } finally {
    if (before === undefined) delete process.env['TZ']
    else process.env['TZ'] = before
  }
}

/** The time that a clock shows, as if it were UTC. */
export const shownAt = (instant: number): number => {
  const date = new Date(instant)
  return instant - date.getTimezoneOffset() * 60_000
}

const LOOK_MS = 6 * HOUR_MS

/** Instants at most six hours after a change of the zone's clocks. */
export const changesBetween = (from: number, to: number): readonly number[] => {
  const changes: number[] = []
  let before = new Date(from).getTimezoneOffset()
  for (let instant = from; instant <= to; instant += LOOK_MS) {
    const offset = new Date(instant).getTimezoneOffset()
    if (offset !== before) changes.push(instant)
    before = offset
  }
  return changes
}

const matches = ({ minutes, hours }: Pattern, shown: number): boolean =>
  minutes.includes(Math.floor(shown / 60_000) % 60) && hours.includes(Math.floor(shown / HOUR_MS) % 24)

/** Every instant at which the clocks show a time of the pattern. */
const elapsedSlots = (pattern: Pattern, from: number, to: number): readonly number[] => {
  const slots: number[] = []
  for (let instant = from; instant <= to; instant += STEP_MS)
    if (matches(pattern, shownAt(instant))) slots.push(instant)
  return slots
}

/** Every instant at which the clocks reach or pass, for the first time, a time of the pattern. */
const namedSlots = (pattern: Pattern, from: number, to: number): readonly number[] => {
  const slots: number[] = []
  let highest = shownAt(from - STEP_MS)
  for (let instant = from; instant <= to; instant += STEP_MS) {
    const shown = shownAt(instant)
    let reached = false
    for (let time = highest + STEP_MS; time <= shown; time += STEP_MS) reached ||= matches(pattern, time)
    if (reached) slots.push(instant)
    highest = Math.max(highest, shown)
  }
  return slots
}

/** `from` and `to` are multiples of five minutes. */
export const slotsByHand = (pattern: Pattern, from: number, to: number): readonly number[] =>
  pattern.elapsed ? elapsedSlots(pattern, from, to) : namedSlots(pattern, from, to)
