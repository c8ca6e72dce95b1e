/** When an endpoint is switched off. */
import { describe, expect, test } from 'vitest'
import { healthAfter, healthOf } from './endpoint-health.ts'

const DAY = 86_400_000
const WELL = { address: 'a', failingSince: null, off: null }
const FAILED = { kind: 'failed', detail: '503' } as const
const DELIVERED = { kind: 'delivered', detail: '200' } as const

describe('endpoint-1', () => {
  test('five days of failures switch an endpoint off, and no shorter time does', () => {
    const failing = healthAfter(WELL, FAILED, 100)
    expect(failing).toEqual({ ...WELL, failingSince: 100 })
    expect(healthAfter(failing, FAILED, 100 + 5 * DAY - 1)).toBe(failing)
    expect(healthAfter(failing, FAILED, 100 + 5 * DAY).off).toMatch(/five days.*503/)
  })

  test('a success restarts the five days', () => {
    const well = healthAfter(healthAfter(WELL, FAILED, 0), DELIVERED, 4 * DAY)
    expect(well).toEqual(WELL)
    expect(healthAfter(well, DELIVERED, 5 * DAY)).toBe(well)
    expect(healthAfter(well, FAILED, 6 * DAY)).toEqual({ ...WELL, failingSince: 6 * DAY })
  })

  test('an endpoint that is gone is switched off at once', () => {
    expect(healthAfter(WELL, { kind: 'unwanted', detail: '410' }, 0).off).toMatch(/410/)
  })

  test('stored health applies only to its own address', () => {
    const kept = { address: 'a', failingSince: 7, off: 'gone' }
    expect(healthOf(kept, 'a')).toEqual(kept)
    expect(healthOf(kept, 'b')).toEqual({ ...WELL, address: 'b' })
  })

  test.each([null, 'off', [], {}, { address: 'a', off: 3, failingSince: 'x' }])('%j says nothing', (kept) => {
    expect(healthOf(kept, 'a')).toEqual(WELL)
  })
})
