/** The timeline as numbers: which bars there are, and how long idle time is folded. */
import { expect, test } from 'vitest'
import type { Fact } from '../../api/documents.ts'
import { axisOf, barsOf, placeOn } from './bars.ts'

const START = Date.parse('2026-01-05T08:00:00.000Z')
const MINUTE = 60_000
const DAY = 1_440 * MINUTE

const aFact = (type: string, step: string | null, at: number, body: Fact['body'] = {}): Fact => ({
  seq: 0,
  type,
  step,
  at: new Date(START + at).toISOString(),
  text: '',
  body,
})

test('a question to people is a bar of the human hand, a called handler is not', () => {
  const bars = barsOf([
    aFact('run.started', null, 0),
    aFact('child.started', 'ask', 10, { child: `tsk_${'0'.repeat(32)}` }),
    aFact('child.started', 'print', 20, { child: `run_${'0'.repeat(32)}` }),
  ])
  expect(bars.map(({ step, hand, kind, outcome }) => [step, hand, kind, outcome])).toEqual([
    ['ask', 'human', 'human', 'open'],
    ['print', 'workflow', 'child', 'open'],
  ])
})

test('a step that leaves one fact begins where the fact before it was written; a model is the hand of an agent', () => {
  const [bar] = barsOf([aFact('run.started', null, 100), aFact('step.completed', 'agent/model[0]', 900)])
  expect(bar).toMatchObject({ hand: 'agent', kind: 'work', from: START + 100, to: START + 900, outcome: 'done' })
})

test('two days of waiting are folded: work before and after them keeps nearly all of the width', () => {
  const axis = axisOf([0, MINUTE, MINUTE + 2 * DAY, 2 * MINUTE + 2 * DAY], null)
  const [before, gap, after] = axis
  expect(axis.map(({ isIdle }) => isIdle)).toEqual([false, true, false])
  expect((gap?.end ?? 1) - (gap?.start ?? 0)).toBeCloseTo(0.06)
  expect((before?.end ?? 0) - (before?.start ?? 0)).toBeCloseTo(0.47)
  expect(after?.end).toBeCloseTo(1)
})

test('a long time that is most of a short run is not folded: it is what the run did', () => {
  expect(axisOf([0, 30_000, 31_000], null).some(({ isIdle }) => isIdle)).toBe(false)
})

test('an instant has its place on the axis: inside of a fold, and never outside of the whole', () => {
  const axis = axisOf([0, MINUTE, MINUTE + DAY, 2 * MINUTE + DAY], null)
  const middle = placeOn(axis, MINUTE + DAY / 2)
  expect(middle).toBeGreaterThan(placeOn(axis, MINUTE))
  expect(middle).toBeLessThan(placeOn(axis, MINUTE + DAY))
  expect(placeOn(axis, -DAY)).toBe(0)
  expect(placeOn(axis, 9 * DAY)).toBeCloseTo(1)
  expect(placeOn([], 5)).toBe(0)
})

test('a run that is not over reaches to now', () => {
  const axis = axisOf([0, 1_000], 5_000)
  expect(axis.at(-1)).toMatchObject({ from: 1_000, to: 5_000, end: 1 })
})
