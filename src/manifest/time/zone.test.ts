/** Conversion between instants and the wall times of a zone. */
import { expect, test } from 'vitest'
import { openZone } from './zone.ts'

const at = (text: string): number => Date.parse(text)
const berlin = openZone('Europe/Berlin', 'tz')

test('zone-1: a skipped time is reached right after the gap', () =>
  expect(berlin.reach(at('2026-03-29T02:30:00Z'))).toBe(at('2026-03-29T01:00:00Z')))

test('zone-1: a repeated time is reached on the first pass', () =>
  expect(berlin.reach(at('2026-10-25T02:30:00Z'))).toBe(at('2026-10-25T00:30:00Z')))

test('zone-1: the time after the repeated hour is reached after both passes', () =>
  expect(berlin.reach(at('2026-10-25T03:00:00Z'))).toBe(at('2026-10-25T02:00:00Z')))

test('a span ends at the clock change, to the millisecond', () => {
  const change = at('2026-03-29T01:00:00Z')
  expect(berlin.spanAt(change - 1)).toMatchObject({ to: change, offsetMs: 3_600_000 })
  expect(berlin.spanAt(change)).toMatchObject({ from: change, offsetMs: 7_200_000 })
})

test.each(['Mars/Olympus', '', 'Europe/Berlin '])('the zone %j is refused', (name) =>
  expect(() => openZone(name, 'schedules.x.tz')).toThrow(
    `MANIFEST_INVALID: schedules.x.tz: "${name}" is not a time zone`,
  ),
)
