/**
 * A cron expression as a calendar of wall times: no zone, no clock, only days and times of day.
 *
 * Owns the accepted spelling. croner parses the fields and finds the days, one field at a time: with a zone it drops
 * slots in spring and doubles them in autumn, and slot by slot it is slow. Zones are calendar.ts.
 */
import { createRequire } from 'node:module'
import type { Cron } from 'croner'
import { invalid } from '#manifest/define/invalid.ts'
import type { TrihandError } from '#model/kernel/errors.ts'
import { DAY_MS, dateText, HOUR_MS, MINUTE_MS, SECOND_MS } from './civil.ts'

export interface WallCalendar {
  /** The first wall time of the calendar from `wall` on, null if there is none. */
  firstFrom(wall: number): number | null
  /** The hour field is `*` or a step of it: hours elapse, they are not named. */
  readonly everyHour: boolean
  /** The length of one wall time: a minute, or a second if the expression has seconds. */
  readonly grainMs: number
  /** True if days are chosen as a whole: all times of a chosen day belong to the calendar. */
  readonly wholeDays: boolean
}

const NICKNAMES: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
}

const bad = (expression: string, path: string, problem: string, cause?: unknown): TrihandError =>
  invalid(path, `"${expression}" is not a cron expression: ${problem}`, cause)

const fieldsOf = (expression: string, path: string): readonly string[] => {
  const plain = NICKNAMES[expression.trim().toLowerCase()] ?? expression
  const fields = plain.trim().split(/\s+/)
  if (fields.length !== 5 && fields.length !== 6)
    throw bad(expression, path, 'it has 5 fields, 6 with seconds first, or is one like @daily')
  // croner replaces it by the present moment, so a calendar would depend on when it was parsed.
  if (plain.includes('?')) throw bad(expression, path, '? is not supported, write *')
  return fields.length === 5 ? ['0', ...fields] : fields
}

/** Loaded with the first expression, as in rules.ts: most systems have none. */
const croner = (): typeof import('croner') => createRequire(import.meta.url)('croner')

const parse = (pattern: string): Cron => {
  const { Cron: Pattern } = croner()
  return new Pattern(pattern, { utcOffset: 0, paused: true, mode: '6-part' })
}

/** The next wall time of a pattern after a second; croner knows no time before year 1 and none after 9999. */
const nextRun = (cron: Cron, afterDay: number, time: string): number | null =>
  cron.nextRun(`${dateText(afterDay)}T${time}`)?.getTime() ?? null

/** The next value of a field at or after each value: index 24 of hours is past the end. */
type Steps = readonly (number | null)[]

/** The values of one field, found by listing the times of one day for this field alone. */
const stepsOf = (field: string, pattern: (field: string) => string, unitMs: number, size: number): Steps => {
  const values =
    field === '*' ? Array.from({ length: size }, (_, value) => value) : listed(pattern(field), unitMs, size)
  return Array.from({ length: size + 1 }, (_, from) => values.find((value) => value >= from) ?? null)
}

const listed = (pattern: string, unitMs: number, size: number): readonly number[] => {
  const cron = parse(pattern)
  const values: number[] = []
  let wall = nextRun(cron, -1, '23:59:59')
  while (wall !== null && wall < size * unitMs) {
    values.push(Math.floor(wall / unitMs))
    wall = cron.nextRun(`${dateText(0)}T${clockText(wall)}`)?.getTime() ?? null
  }
  return values
}

const clockText = (wall: number): string =>
  [HOUR_MS, MINUTE_MS, SECOND_MS]
    .map((unit, i) => String(Math.floor(wall / unit) % (i === 0 ? 24 : 60)).padStart(2, '0'))
    .join(':')

interface Times {
  readonly hours: Steps
  readonly minutes: Steps
  readonly seconds: Steps
}

/** The first time of day at or after `time`, in milliseconds; null if the day has none left. */
const timeFrom = ({ hours, minutes, seconds }: Times, time: number): number | null => {
  const [h, m, s] = [
    Math.floor(time / HOUR_MS),
    Math.floor(time / MINUTE_MS) % 60,
    Math.ceil((time % MINUTE_MS) / SECOND_MS),
  ]
  const first = (steps: Steps): number => steps[0] ?? 0
  const at = (hour: number, minute: number, second: number): number =>
    hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS
  if (hours[h] === h) {
    const second = minutes[m] === m ? (seconds[s] ?? null) : null
    if (second !== null) return at(h, m, second)
    const minute = minutes[m + 1] ?? null
    if (minute !== null) return at(h, minute, first(seconds))
  }
  const hour = hours[h + 1] ?? null
  return hour === null ? null : at(hour, first(minutes), first(seconds))
}

/** The first day of the calendar from a day on. The result is valid for every day up to it. */
const dayFinder = (pattern: Cron | null): ((day: number) => number | null) => {
  if (pattern === null) return (day) => day
  let known: { readonly from: number; readonly found: number | null } | null = null
  return (day) => {
    if (known === null || day < known.from || (known.found !== null && day > known.found)) {
      const wall = nextRun(pattern, day - 1, '23:59:59')
      known = { from: day, found: wall === null ? null : Math.floor(wall / DAY_MS) }
    }
    return known.found
  }
}

export const parseCron = (expression: string, path: string): WallCalendar => {
  const [second = '', minute = '', hour = '', ...days] = fieldsOf(expression, path)
  try {
    // Parsed as a whole, so that croner's own error message is reported.
    parse([second, minute, hour, ...days].join(' '))
  } catch (cause) {
    throw bad(expression, path, cause instanceof Error ? cause.message.replace(/^CronPattern: /, '') : '', cause)
  }
  const times: Times = {
    hours: stepsOf(hour, (field) => `0 0 ${field} * * *`, HOUR_MS, 24),
    minutes: stepsOf(minute, (field) => `0 ${field} 0 * * *`, MINUTE_MS, 60),
    seconds: stepsOf(second, (field) => `${field} 0 0 * * *`, SECOND_MS, 60),
  }
  const dayFrom = dayFinder(days.every((field) => field === '*') ? null : parse(`0 0 0 ${days.join(' ')}`))

  const firstFrom = (wall: number): number | null => {
    const asked = Math.floor(wall / DAY_MS)
    const day = dayFrom(asked)
    if (day === null) return null
    const time = timeFrom(times, day === asked ? wall - day * DAY_MS : 0)
    if (time !== null) return day * DAY_MS + time
    return firstFrom((day + 1) * DAY_MS)
  }
  const hasSeconds = expression.trim().split(/\s+/).length === 6
  return {
    firstFrom,
    everyHour: hour.startsWith('*'),
    grainMs: hasSeconds ? SECOND_MS : MINUTE_MS,
    wholeDays: hour === '*' && minute === '*' && (second === '*' || !hasSeconds),
  }
}
