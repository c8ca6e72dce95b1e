/** Times in time zones. */
import { expect, test } from 'vitest'
import { inZone } from './zones.ts'

test('one instant is shown by the clocks of each zone, summer and winter', () => {
  expect(inZone('2026-07-01T22:30:00.000Z', 'UTC')).toBe('Wed, 1 Jul 2026, 22:30'.replace(' 1 ', ' 01 '))
  expect(inZone('2026-07-01T22:30:00.000Z', 'Europe/Berlin')).toBe('Thu, 02 Jul 2026, 00:30')
  expect(inZone('2026-01-01T22:30:00.000Z', 'Europe/Berlin')).toBe('Thu, 01 Jan 2026, 23:30')
})
