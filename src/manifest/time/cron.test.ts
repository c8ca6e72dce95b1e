/** Cron expressions as calendars of wall times. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseCron } from './cron.ts'

const firstFrom = (expression: string, from: string): string | null => {
  const wall = parseCron(expression, 'cron').firstFrom(Date.parse(from))
  return wall === null ? null : new Date(wall).toISOString().slice(0, 19)
}

test.each([
  ['*/5 * * * *', '2026-01-01T00:01:00Z', '2026-01-01T00:05:00'],
  ['0 9 * * 1-5', '2026-01-02T09:00:01Z', '2026-01-05T09:00:00'],
  ['0 9 * * MON', '2026-01-05T09:00:00Z', '2026-01-05T09:00:00'],
  ['30 4 1,15 * *', '2026-01-01T05:00:00Z', '2026-01-15T04:30:00'],
  ['0 0 L * *', '2026-02-01T00:00:00Z', '2026-02-28T00:00:00'],
  ['0 0 * * 5#2', '2026-01-01T00:00:00Z', '2026-01-09T00:00:00'],
  ['15 10 0 * * *', '2026-01-01T00:10:16Z', '2026-01-02T00:10:15'],
  ['59 59 23 31 12 *', '2026-12-31T23:59:59.001Z', '2027-12-31T23:59:59'],
  ['@daily', '2026-01-01T00:00:00.001Z', '2026-01-02T00:00:00'],
  ['@hourly', '2026-01-01T00:00:01Z', '2026-01-01T01:00:00'],
  ['@weekly', '2026-01-01T00:00:00Z', '2026-01-04T00:00:00'],
  ['@monthly', '2026-01-02T00:00:00Z', '2026-02-01T00:00:00'],
  ['@yearly', '2026-01-02T00:00:00Z', '2027-01-01T00:00:00'],
])('%s from %s on is first due at %s', (expression, from, expected) =>
  expect(firstFrom(expression, from)).toBe(expected),
)

test('there is no 30th of February', () => expect(firstFrom('0 0 30 2 *', '2026-01-01T00:00:00Z')).toBe(null))

test.each([
  ['* * * *', 'it has 5 fields'],
  ['* * * * * * *', 'it has 5 fields'],
  ['@reboot', 'it has 5 fields'],
  ['60 * * * *', 'Invalid value for minute: 60'],
  ['0 22-2 * * *', 'larger than to value'],
  ['0 0 ? * *', '? is not supported'],
  ['*/0 * * * *', 'illegal stepping'],
])('%s is refused', (expression, problem) => expect(() => parseCron(expression, 'cron')).toThrow(problem))

test('random fields give the same slots as a walk over all minutes', () => {
  const field = (size: number) => fc.uniqueArray(fc.nat(size - 1), { minLength: 1, maxLength: 4 })
  fc.assert(
    fc.property(field(60), field(24), field(7), fc.nat(14 * 24 * 60 - 1), (minutes, hours, weekdays, start) => {
      const walls = parseCron(`${minutes} ${hours} * * ${weekdays}`, 'cron')
      const from = Date.UTC(2026, 0, 1) + start * 60_000
      let expected = from
      const isOne = (date: Date): boolean =>
        minutes.includes(date.getUTCMinutes()) &&
        hours.includes(date.getUTCHours()) &&
        weekdays.includes(date.getUTCDay())
      while (!isOne(new Date(expected))) expected += 60_000
      expect(walls.firstFrom(from)).toBe(expected)
      expect(walls.firstFrom(from - 59_999)).toBe(expected)
    }),
    { numRuns: 100, seed: 11 },
  )
})
