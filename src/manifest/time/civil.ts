/**
 * Days of the calendar as numbers, and instants as people write them (RFC 3339), without Date.
 *
 * Owns the arithmetic of dates: days are counted from 1970-01-01. Never knows a time zone (zone.ts).
 */
import { invalid } from '#manifest/define/invalid.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Instant } from '#model/kernel/ids.ts'

export const SECOND_MS = 1_000
export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const INSTANT = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?([Zz]|[+-]\d{2}:?\d{2})?$/
const DAYS_PER_ERA = 146_097
const DAYS_BEFORE_1970 = 719_468

/** The number of a day. Years begin in March here, so that a leap day is the last of its year. */
export const dayNumber = (year: number, month: number, day: number): number => {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * DAYS_PER_ERA + dayOfEra - DAYS_BEFORE_1970
}

const pad = (value: number, length = 2): string => String(value).padStart(length, '0')

/** The date of a day, as `2026-03-01`. */
export const dateText = (days: number): string => {
  const shifted = days + DAYS_BEFORE_1970
  const era = Math.floor(shifted / DAYS_PER_ERA)
  const dayOfEra = shifted - era * DAYS_PER_ERA
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  return `${pad(yearOfEra + era * 400 + (month <= 2 ? 1 : 0), 4)}-${pad(month)}-${pad(day)}`
}

/** The number of the day that a text names, or null if there is no such day. */
export const parseDate = (text: string): number | null => {
  const [, year, month, day] = DATE.exec(text) ?? []
  if (year === undefined) return null
  const days = dayNumber(Number(year), Number(month), Number(day))
  // Without this check, the 30th of February would become the 1st of March.
  return dateText(days) === text ? days : null
}

const offsetMs = (text: string): number => {
  if (text === 'Z' || text === 'z') return 0
  const [hours, minutes] = [text.slice(1, 3), text.slice(-2)].map(Number)
  return (text.startsWith('-') ? -1 : 1) * ((hours ?? 0) * HOUR_MS + (minutes ?? 0) * MINUTE_MS)
}

const bad = (text: string, path: string): TrihandError =>
  invalid(path, `"${text}" is not an instant; write one like 2026-03-01T09:00:00Z`)

export const parseInstant = (text: string, path: string): Instant => {
  const [, date, hours, minutes, seconds = '0', fraction = '', offset] = INSTANT.exec(text) ?? []
  if (date === undefined) throw bad(text, path)
  if (offset === undefined)
    throw new TrihandError('INSTANT_WITHOUT_ZONE', `${path}: "${text}" has no offset`, { place: { path } })
  const days = parseDate(date)
  const [h, m, s] = [hours, minutes, seconds].map(Number)
  if (days === null || h === undefined || m === undefined || s === undefined || h > 23 || m > 59 || s > 59)
    throw bad(text, path)
  const ms = Number(fraction.padEnd(3, '0').slice(0, 3))
  return days * DAY_MS + h * HOUR_MS + m * MINUTE_MS + s * SECOND_MS + ms - offsetMs(offset)
}

/** An instant as RFC 3339 in UTC. */
export const instantText = (instant: Instant): string => {
  const days = Math.floor(instant / DAY_MS)
  const rest = instant - days * DAY_MS
  const [h, m, s] = [HOUR_MS, MINUTE_MS, SECOND_MS].map((unit) => Math.floor(rest / unit) % 60)
  return `${dateText(days)}T${pad(h ?? 0)}:${pad(m ?? 0)}:${pad(s ?? 0)}.${pad(rest % SECOND_MS, 3)}Z`
}
