/** Slots of calendars: daylight saving in every zone that has it, intervals, moments, exclusions, jitter. */
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Instant } from '#model/kernel/ids.ts'
import { fold } from '#model/kernel/machine.ts'
import { scheduleWakeAt } from '#model/schedule/due.ts'
import type { ScheduleWorld } from '#model/schedule/fact.ts'
import { schedule } from '#model/schedule/schedule.ts'
import type { Calendar, ScheduleSpec, Timing } from '#model/schedule/spec.ts'
import { aSpec } from '#test/support/stories/schedule-story.ts'
import { changesBetween, inZone, type Pattern, shownAt, slotsByHand } from '#test/support/stories/wall-oracle.ts'
import { calendarsOf } from './calendar.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from './civil.ts'

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
const calendarOf = calendarsOf('report', digest)
const at = (text: string): Instant => Date.parse(text)
const cron = (expression: string, tz = 'UTC', over: Partial<ScheduleSpec> = {}): Calendar =>
  calendarOf(aSpec({ timing: { kind: 'cron', expression }, tz, ...over }))
const between = (calendar: Calendar, from: string, to: string): readonly string[] =>
  [...calendar.slots(at(from), at(to))].map((slot) => new Date(slot).toISOString().replace(':00.000Z', 'Z'))

const range = (size: number, step = 1): readonly number[] =>
  Array.from({ length: Math.ceil(size / step) }, (_, i) => i * step)
const PATTERNS: readonly Pattern[] = [
  { cron: '*/15 2 * * *', minutes: range(60, 15), hours: [2], elapsed: false },
  { cron: '30 1,2,3 * * *', minutes: [30], hours: [1, 2, 3], elapsed: false },
  { cron: '0 0 * * *', minutes: [0], hours: [0], elapsed: false },
  { cron: '5-55/10 0-4,22,23 * * *', minutes: [5, 15, 25, 35, 45, 55], hours: [0, 1, 2, 3, 4, 22, 23], elapsed: false },
  { cron: '*/30 * * * *', minutes: [0, 30], hours: range(24), elapsed: true },
  { cron: '0 */2 * * *', minutes: [0], hours: range(24, 2), elapsed: true },
  { cron: '45 * * * *', minutes: [45], hours: range(24), elapsed: true },
]
const FROM = Date.UTC(2024, 0, 1)
const TO = Date.UTC(2029, 0, 1)

const zonesWithChanges = (): readonly (readonly [string, readonly Instant[]])[] =>
  Intl.supportedValuesOf('timeZone')
    .map((zone) => [zone, inZone(zone, () => changesBetween(FROM, TO))] as const)
    .filter(([, changes]) => changes.length > 0)

describe('[H1] cron with a time zone', () => {
  test('calendar-1: agrees with brute force around every change of the clocks 2024 to 2028, in every zone', () => {
    const zones = zonesWithChanges()
    // All zones that the machine's tables know; with only a handful the test would check nothing.
    expect(zones.length).toBeGreaterThan(100)
    for (const [zone, changes] of zones) {
      const calendars = PATTERNS.map((pattern) => [pattern, cron(pattern.cron, zone)] as const)
      inZone(zone, () => {
        for (const change of changes) {
          const [from, to] = [change - 36 * HOUR_MS, change + 30 * HOUR_MS]
          for (const [pattern, calendar] of calendars) {
            const [found, expected] = [[...calendar.slots(from - 1, to)], slotsByHand(pattern, from, to)]
            // Compared as texts first, because ten thousand deep comparisons would be most of this test's time.
            if (found.join() !== expected.join())
              expect([zone, pattern.cron, ...found]).toEqual([zone, pattern.cron, ...expected])
          }
        }
      })
    }
  }, 120_000)

  test('calendar-1: a skipped time runs once, at the first instant after the gap', () =>
    expect(between(cron('*/15 2 * * *', 'Europe/Berlin'), '2026-03-29T00:00:00Z', '2026-03-29T12:00:00Z')).toEqual([
      '2026-03-29T01:00Z',
    ]))

  test('calendar-1: a repeated time runs on its first pass only', () =>
    expect(between(cron('*/30 2 * * *', 'Europe/Berlin'), '2026-10-24T22:00:00Z', '2026-10-25T12:00:00Z')).toEqual([
      '2026-10-25T00:00Z',
      '2026-10-25T00:30Z',
    ]))

  test('calendar-1: on the second pass of a repeated hour the next slot is that of the day after', () =>
    expect(between(cron('*/30 2 * * *', 'Europe/Berlin'), '2026-10-25T01:10:00Z', '2026-10-26T01:00:00Z')).toEqual([
      '2026-10-26T01:00Z',
    ]))

  test('calendar-1: both passes run where hours are not named', () =>
    expect(between(cron('0 * * * *', 'Europe/Berlin'), '2026-10-24T23:30:00Z', '2026-10-25T02:00:00Z')).toEqual([
      '2026-10-25T00:00Z',
      '2026-10-25T01:00Z',
      '2026-10-25T02:00Z',
    ]))

  test('calendar-1: half an hour is a gap too, on Lord Howe', () => {
    const lordHowe = cron('15,45 2 * * *', 'Australia/Lord_Howe')
    expect(between(lordHowe, '2026-10-03T12:00:00Z', '2026-10-04T12:00:00Z')).toEqual([
      '2026-10-03T15:30Z',
      '2026-10-03T15:45Z',
    ])
  })

  test('calendar-1: a whole day is a gap too, in Samoa', () =>
    expect(between(cron('0 9 * * *', 'Pacific/Apia'), '2011-12-29T12:00:00Z', '2011-12-31T12:00:00Z')).toEqual([
      '2011-12-29T19:00Z',
      '2011-12-30T10:00Z',
      '2011-12-30T19:00Z',
    ]))

  test('a day of the month and a day of the week select days that match either', () =>
    expect(between(cron('0 12 13 * 5'), '2026-02-01T00:00:00Z', '2026-02-28T00:00:00Z')).toEqual([
      '2026-02-06T12:00Z',
      '2026-02-13T12:00Z',
      '2026-02-20T12:00Z',
      '2026-02-27T12:00Z',
    ]))

  test('accepts seconds as the first of six fields', () => {
    const slots = [...cron('*/20 0 12 * * *').slots(at('2026-01-01T00:00:00Z'), at('2026-01-01T13:00:00Z'))]
    expect(slots).toEqual([0, 20, 40].map((second) => at('2026-01-01T12:00:00Z') + second * 1_000))
  })

  test('finds the leap day that is eight years away', () =>
    expect(between(cron('0 0 29 2 *'), '2096-03-01T00:00:00Z', '2105-01-01T00:00:00Z')).toEqual(['2104-02-29T00:00Z']))

  test.each(['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe'])(
    'over both clock changes in %s no day is doubled or lost',
    (tz) => {
      const world: ScheduleWorld = { calendarOf, runOf: (slot) => `run_${slot}` as ReturnType<ScheduleWorld['runOf']> }
      const spec = aSpec({ timing: { kind: 'cron', expression: '30 2 * * *' }, tz })
      const declared = { type: 'schedule.created', at: at('2026-01-01T12:00:00Z'), spec } as const
      let state = fold(schedule, [declared])
      const days: string[] = []
      for (let now = 0; days.length < 365; ) {
        now = scheduleWakeAt(state, calendarOf) ?? Number.NaN
        const decision = schedule.decide(state, { type: 'pass_time', now, world })
        if (decision.kind === 'refused') throw new Error(decision.detail)
        state = fold(schedule, decision.facts, state)
        days.push(...inZone(tz, () => decision.facts.map(() => new Date(shownAt(now)).toISOString().slice(0, 10))))
      }
      expect(new Set(days).size).toBe(365)
      expect(days.toSorted()).toEqual(days)
      expect((at(days.at(-1) ?? '') - at(days[0] ?? '')) / DAY_MS).toBe(364)
    },
  )
})

describe('[H2] an interval', () => {
  const every = (everyMs: number, phaseMs: number): Calendar =>
    calendarOf(aSpec({ timing: { kind: 'every', everyMs, phaseMs } }))

  test('is at whole multiples since the Unix epoch, shifted by its phase', () =>
    expect(between(every(6 * HOUR_MS, 90 * MINUTE_MS), '2026-01-01T00:00:00Z', '2026-01-01T20:00:00Z')).toEqual([
      '2026-01-01T01:30Z',
      '2026-01-01T07:30Z',
      '2026-01-01T13:30Z',
      '2026-01-01T19:30Z',
    ]))

  test('if an instant is a slot, the next slot comes after it', () =>
    expect([...every(HOUR_MS, 0).slots(5 * HOUR_MS, 6 * HOUR_MS)]).toEqual([6 * HOUR_MS]))
})

describe('[H3] a moment', () => {
  const once = calendarOf(aSpec({ timing: { kind: 'at', at: 1_000 } }))

  test('is one slot', () => expect([...once.slots(0, 9_000)]).toEqual([1_000]))
  test('is none after it', () => expect([...once.slots(1_000, 9_000)]).toEqual([]))
  test('is none until it is reached', () => expect([...once.slots(0, 999)]).toEqual([]))
})

describe('bounds', () => {
  const hourly: Timing = { kind: 'every', everyMs: HOUR_MS, phaseMs: 0 }
  const noon = '0 12 * * *'

  test('start and end are inclusive', () => {
    const calendar = calendarOf(aSpec({ timing: hourly, start: 3 * HOUR_MS, end: 5 * HOUR_MS }))
    expect([...calendar.slots(0, DAY_MS)]).toEqual([3, 4, 5].map((k) => k * HOUR_MS))
  })

  test('exclude local days, both ends included', () => {
    const calendar = cron(noon, 'Pacific/Auckland', {
      exclude: [{ kind: 'days', from: '2026-01-02', to: '2026-01-03' }],
    })
    expect(between(calendar, '2025-12-31T12:00:00Z', '2026-01-04T12:00:00Z')).toEqual([
      '2025-12-31T23:00Z',
      '2026-01-03T23:00Z',
    ])
  })

  test('exclude a span, but not its end', () => {
    const calendar = calendarOf(aSpec({ timing: hourly, exclude: [{ kind: 'span', from: 0, to: 4 * HOUR_MS }] }))
    expect([...calendar.slots(-1, 5 * HOUR_MS)]).toEqual([4 * HOUR_MS, 5 * HOUR_MS])
  })

  test('exclude the minutes that a cron expression names', () => {
    const calendar = cron('0,30 * * * *', 'Europe/Berlin', { exclude: [{ kind: 'cron', expression: '* 0-21 * * *' }] })
    expect(between(calendar, '2026-01-01T00:00:00Z', '2026-01-01T22:00:00Z')).toEqual([
      '2026-01-01T21:00Z',
      '2026-01-01T21:30Z',
      '2026-01-01T22:00Z',
    ])
  })

  test('exclude every second of an excluded minute', () => {
    const exclude = [{ kind: 'cron', expression: '0 * * * *' }] as const
    const calendar = calendarOf(aSpec({ timing: { kind: 'every', everyMs: 20_000, phaseMs: 0 }, exclude }))
    expect([...calendar.slots(-1, 80_000)]).toEqual([60_000, 80_000])
  })

  test('that exclude everything leave no slot', () => {
    const calendar = cron(noon, 'UTC', { exclude: [{ kind: 'cron', expression: '* * * * *' }] })
    expect([...calendar.slots(0, 8.64e15)]).toEqual([])
  })
})

describe('[H10] jitter', () => {
  const spec = aSpec({ timing: { kind: 'every', everyMs: MINUTE_MS, phaseMs: 0 }, jitterMs: 10 * MINUTE_MS })
  const slots = [...calendarOf(spec).slots(0, 1_000 * MINUTE_MS)]
  const delays = slots.map((slot) => calendarOf(spec).delayMs(slot))

  test('is the same in every process', () => {
    const elsewhere = calendarsOf('report', digest)({ ...spec })
    expect(slots.map((slot) => elsewhere.delayMs(slot))).toEqual(delays)
  })

  test('differs from schedule to schedule', () => {
    const other = calendarsOf('other', digest)(spec)
    expect(slots.map((slot) => other.delayMs(slot))).not.toEqual(delays)
  })

  test('calendar-2: ends before the next slot begins', () => {
    expect(Math.max(...delays)).toBeLessThan(MINUTE_MS)
  })

  test('is spread evenly', () => {
    const quarters = range(4).map((q) => delays.filter((delay) => Math.floor((delay * 4) / MINUTE_MS) === q).length)
    for (const count of quarters) expect(Math.abs(count - 250)).toBeLessThan(60)
  })

  test('stays below its limit if slots are far apart', () => {
    const daily = cron('@daily', 'UTC', { jitterMs: MINUTE_MS })
    const found = [...daily.slots(FROM, TO)].map((slot) => daily.delayMs(slot))
    expect(Math.max(...found)).toBeLessThan(MINUTE_MS)
    expect(Math.max(...found)).toBeGreaterThan(0.9 * MINUTE_MS)
  })
})
