/** Dates and instants as texts and numbers, compared with the arithmetic of Date. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dateText, dayNumber, instantText, parseDate, parseInstant } from './civil.ts'

const OPTIONS = { numRuns: 2_000, seed: 7 }
const anyInstant = fc.integer({ min: Date.UTC(1600, 0, 1), max: Date.UTC(9999, 0, 1) })

test('every instant is formatted as Date formats it, and parsed back', () => {
  fc.assert(
    fc.property(anyInstant, (instant) => {
      const text = new Date(instant).toISOString()
      expect(instantText(instant)).toBe(text)
      expect(parseInstant(text, 'at')).toBe(instant)
    }),
    OPTIONS,
  )
})

test('every day has its number', () => {
  fc.assert(
    fc.property(anyInstant, (instant) => {
      const date = new Date(instant)
      const days = dayNumber(date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate())
      expect(days).toBe(Math.floor(instant / 86_400_000))
      expect(parseDate(dateText(days))).toBe(days)
    }),
    OPTIONS,
  )
})

test.each([
  ['2026-03-01T09:00:00+01:30', '2026-03-01T07:30:00Z'],
  ['2026-03-01 09:00Z', '2026-03-01T09:00:00Z'],
  ['2026-03-01T09:00:00.1234567-0800', '2026-03-01T17:00:00.123Z'],
])('%s is an instant', (text, same) => expect(parseInstant(text, 'at')).toBe(Date.parse(same)))

test('an instant without its offset is refused', () =>
  expect(() => parseInstant('2026-03-01T09:00:00', 'at')).toThrow('INSTANT_WITHOUT_ZONE: at: "2026-03-01T09:00:00"'))

test.each(['2026-02-30T00:00:00Z', '2026-13-01T00:00:00Z', '2026-01-01T24:00:00Z', 'tomorrow', '2026-01-01'])(
  '%s is not an instant',
  (text) => expect(() => parseInstant(text, 'at')).toThrow(`MANIFEST_INVALID: at: "${text}" is not an instant`),
)

test.each(['2026-02-29', '2026-00-01', '2026-01-00', '26-01-01'])('%s is not a day', (text) =>
  expect(parseDate(text)).toBe(null),
)
