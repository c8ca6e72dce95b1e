/** The axis of the timeline: collapsed idle times, the visible part, and the clock ticks. */
import { expect, test } from 'vitest'
import { axisOf, placeOn, placeSeen, seenAt, viewBetween, viewFrom, viewUntil, WHOLE } from './axis.ts'
import type { Segment, State } from './bars.ts'
import { ticksOf } from './ticks.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const DAY = 1_440 * MINUTE

const piece = (state: State, from: number, to: number | null): Segment => ({ state, from, to, attempt: 1 })
const folded = { now: 0, width: 0, isUnfolded: () => false }
const WAITED = [
  piece('work', 0, MINUTE),
  piece('human', MINUTE, MINUTE + 2 * DAY),
  piece('work', MINUTE + 2 * DAY, 2 * MINUTE + 2 * DAY),
]

test('two days of waiting are folded: work before and after them keeps nearly all of the width', () => {
  const axis = axisOf(WAITED, folded)
  const [before, gap, after] = axis
  expect(axis.map(({ isFolded }) => isFolded)).toEqual([false, true, false])
  expect((gap?.end ?? 1) - (gap?.start ?? 0)).toBeCloseTo(0.06)
  expect((before?.end ?? 0) - (before?.start ?? 0)).toBeCloseTo(0.47)
  expect(after?.end).toBeCloseTo(1)
})

test('one fold can be opened: it stays idle, and has the length it has', () => {
  const axis = axisOf(WAITED, { ...folded, isUnfolded: (from) => from === MINUTE })
  expect(axis.map(({ isIdle, isFolded }) => [isIdle, isFolded])).toEqual([
    [false, false],
    [true, false],
    [false, false],
  ])
  expect(placeOn(axis, MINUTE + DAY)).toBeCloseTo(0.5)
})

test('six days of waiting in six parts are six folds: none is long beside the others, all are beside the work', () => {
  const days = Array.from({ length: 6 }, (_, i) => [
    piece('work', i * DAY, i * DAY + SECOND),
    piece('sleep', i * DAY + SECOND, (i + 1) * DAY),
  ]).flat()
  expect(axisOf(days, folded).filter(({ isFolded }) => isFolded)).toHaveLength(6)
})

test('however many folds there are, work keeps half of the width', () => {
  const days = Array.from({ length: 40 }, (_, i) => [
    piece('work', i * DAY, i * DAY + SECOND),
    piece('event', i * DAY + SECOND, (i + 1) * DAY),
  ]).flat()
  const width = (isFolded: boolean) =>
    axisOf(days, folded)
      .filter((stretch) => stretch.isFolded === isFolded)
      .reduce((sum, { start, end }) => sum + end - start, 0)
  expect(width(true)).toBeCloseTo(0.5)
  expect(width(false)).toBeCloseTo(0.5)
})

test('on a narrow page a fold is as wide as its words', () => {
  const widths = [150, 300, 2_000].map((width) => {
    const gap = axisOf(WAITED, { ...folded, width }).find(({ isFolded }) => isFolded)
    return Math.round(((gap?.end ?? 0) - (gap?.start ?? 0)) * width)
  })
  expect(widths).toEqual([38, 38, 120])
})

test('a long time in which somebody works is not folded, also where another step waits meanwhile', () => {
  const axis = axisOf([piece('work', 0, DAY), piece('event', MINUTE, DAY - MINUTE)], folded)
  expect(axis).toEqual([{ from: 0, to: DAY, isIdle: false, isFolded: false, start: 0, end: 1 }])
})

test('half a minute that is most of a short run is not folded: it is what the run did', () => {
  const axis = axisOf([piece('sleep', 0, 30 * SECOND), piece('work', 30 * SECOND, 31 * SECOND)], folded)
  expect(axis.some(({ isIdle }) => isIdle)).toBe(false)
})

test('an instant has its place on the axis: inside of a fold, and never outside of the whole', () => {
  const axis = axisOf(WAITED, folded)
  const middle = placeOn(axis, MINUTE + DAY)
  expect(middle).toBeGreaterThan(placeOn(axis, MINUTE))
  expect(middle).toBeLessThan(placeOn(axis, MINUTE + 2 * DAY))
  expect(placeOn(axis, -DAY)).toBe(0)
  expect(placeOn(axis, 9 * DAY)).toBeCloseTo(1)
  expect(placeOn([], 5)).toBe(0)
})

test('a run that is not over reaches to now', () => {
  const axis = axisOf([piece('work', 0, SECOND), piece('event', SECOND, null)], { ...folded, now: 5 * SECOND })
  expect(axis.at(-1)).toMatchObject({ to: 5 * SECOND, end: 1 })
})

test('nothing but idle time has the whole width', () => {
  const [only, ...more] = axisOf([piece('sleep', 0, DAY)], folded)
  expect([only?.start, only?.end, more]).toEqual([0, 1, []])
})

test('a brush chooses what lies between its ends, in whichever order; one without a width chooses everything', () => {
  expect(viewBetween(0.6, 0.2)).toEqual({ from: 0.2, to: 0.6 })
  expect(viewBetween(-1, 3)).toEqual(WHOLE)
  expect(viewBetween(0.4, 0.4)).toEqual(WHOLE)
  const view = viewBetween(0.2, 0.6)
  expect(seenAt(view, 0.4)).toBeCloseTo(0.5)
  expect(placeSeen(view, 0.5)).toBeCloseTo(0.4)
  expect(placeSeen(view, 2)).toBeCloseTo(0.6)
})

test('a view can begin or end at a place, and is never turned around', () => {
  expect(viewFrom({ from: 0, to: 0.5 }, 0.3)).toEqual({ from: 0.3, to: 0.5 })
  expect(viewFrom({ from: 0, to: 0.5 }, 0.7)).toEqual({ from: 0.7, to: 1 })
  expect(viewUntil({ from: 0.4, to: 1 }, 0.6)).toEqual({ from: 0.4, to: 0.6 })
  expect(viewUntil({ from: 0.4, to: 1 }, 0.2)).toEqual({ from: 0, to: 0.2 })
})

test('ticks are instants of the clock that lie apart, none in a fold, as exact as they are close', () => {
  const start = Date.parse('2026-01-05T08:00:00.000Z')
  const at = (from: number, to: number, state: State) => piece(state, start + from, start + to)
  const minutes = axisOf([at(0, 10 * MINUTE, 'work')], folded)
  expect(ticksOf(minutes, WHOLE, 600).map(({ text }) => text)).toEqual(['08:00', '08:02', '08:04', '08:06', '08:08'])
  const near = ticksOf(minutes, viewBetween(0, 0.0005), 600).map(({ text }) => text)
  expect(near.slice(0, 2)).toEqual(['08:00:00.000', '08:00:00.050'])
  const days = axisOf(
    [at(0, MINUTE, 'work'), at(MINUTE, 3 * DAY, 'sleep'), at(3 * DAY, 3 * DAY + MINUTE, 'work')],
    folded,
  )
  const shares = ticksOf(days, WHOLE, 800).map(({ share }) => share)
  const [, gap] = days
  expect(shares.length).toBeGreaterThan(2)
  expect(shares.filter((share) => share > (gap?.start ?? 0) && share < (gap?.end ?? 0))).toEqual([])
  expect(ticksOf([], WHOLE, 800)).toEqual([])
})
