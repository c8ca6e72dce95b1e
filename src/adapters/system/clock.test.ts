/** The real clock: in real time where milliseconds suffice, with fake timers where days are needed. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { SystemClock } from './clock.ts'

const DAY = 86_400_000

describe('system clock', () => {
  test('now is the wall clock', () => {
    const before = Date.now()
    const now = new SystemClock().now()
    expect(now).toBeGreaterThanOrEqual(before)
    expect(now).toBeLessThanOrEqual(Date.now())
  })

  test('clock-1: no callback runs before its instant', async () => {
    const clock = new SystemClock()
    const instants = Array.from({ length: 40 }, (_, i) => clock.now() + (i % 20) + 0.5)
    const lateness = await Promise.all(
      instants.map((at) => new Promise<number>((resolve) => clock.at(at, () => resolve(clock.now() - at)))),
    )
    expect(Math.min(...lateness)).toBeGreaterThanOrEqual(0)
  })

  test('a turn runs after the promises that are ready now', async () => {
    const order: string[] = []
    const turned = new Promise<void>((resolve) => {
      new SystemClock().defer(() => {
        order.push('turn')
        resolve()
      })
    })
    void Promise.resolve().then(() => order.push('promise'))
    await turned
    expect(order).toEqual(['promise', 'turn'])
  })

  test('a clock that does not keep the process alive unrefs its timers, the default clock does not', () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    const cancel = new SystemClock({ keepsAlive: false }).at(Date.now() + DAY, () => {})
    expect(timers()).toBe(before)
    const cancelOther = new SystemClock().at(Date.now() + DAY, () => {})
    expect(timers()).toBe(before + 1)
    cancel()
    cancelOther()
    expect(timers()).toBe(before)
  })
})

describe('system clock over days', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('clock-2: a callback in 60 days runs in 60 days, not at once', () => {
    const clock = new SystemClock()
    const at = clock.now() + 60 * DAY
    const called: number[] = []
    clock.at(at, () => called.push(clock.now()))
    vi.advanceTimersByTime(60 * DAY - 1)
    expect(called).toEqual([])
    vi.advanceTimersByTime(1)
    expect(called).toEqual([at])
  })

  test('clock-2: after the wall clock jumped ahead no callback is more than an hour late', () => {
    const clock = new SystemClock()
    const called: number[] = []
    clock.at(clock.now() + 10 * DAY, () => called.push(clock.now()))
    vi.setSystemTime(clock.now() + 20 * DAY)
    vi.advanceTimersByTime(3_600_000)
    expect(called).toHaveLength(1)
  })

  test('clock-1: after the wall clock jumped back a callback waits for its instant', () => {
    const clock = new SystemClock()
    const at = clock.now() + 1000
    const called: number[] = []
    clock.at(at, () => called.push(clock.now()))
    vi.setSystemTime(clock.now() - DAY)
    vi.advanceTimersByTime(2000)
    expect(called).toEqual([])
    vi.advanceTimersByTime(2 * DAY)
    expect(called).toEqual([at])
  })

  test('a cancelled callback never runs, not even after some hops', () => {
    const clock = new SystemClock()
    let called = false
    const cancel = clock.at(clock.now() + DAY, () => {
      called = true
    })
    vi.advanceTimersByTime(DAY / 2)
    cancel()
    vi.advanceTimersByTime(DAY)
    expect(called).toBe(false)
    expect(vi.getTimerCount()).toBe(0)
  })
})
