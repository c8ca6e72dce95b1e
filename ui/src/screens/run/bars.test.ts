/** Timeline marks as bars: the states of each step, its executor and its outcome. */
import { expect, test } from 'vitest'
import type { Mark, RunMarks } from '../../api/documents.ts'
import { attemptsOf, type Bar, barsOf, beganAt, endedAt, stateOf } from './bars.ts'

const START = Date.parse('2026-01-05T08:00:00.000Z')

const aMark = (at: number, mark: Partial<Mark>): Mark => ({
  seq: 0,
  type: 'any',
  text: '',
  at: new Date(START + at).toISOString(),
  ...mark,
})

const begun = aMark(0, { becomes: 'work' })
const barsAt = (marks: readonly Mark[], status: RunMarks['status'] = 'waiting') => barsOf({ status, marks })
/** States with their start and end in milliseconds. */
const told = ({ pieces }: Bar) =>
  pieces.map(({ state, from, to }) => [state, from - START, to === null ? null : to - START])

test('a question to people is a bar of the human hand, a called handler is of the hand that does it', () => {
  const { steps } = barsAt([
    begun,
    aMark(10, { step: 'ask', becomes: 'human', hand: 'human', child: `tsk_${'0'.repeat(32)}` }),
    aMark(20, { step: 'judge', becomes: 'child', hand: 'agent', child: `run_${'0'.repeat(32)}` }),
  ])
  expect(steps.map(({ step, hand, outcome }) => [step, hand, outcome])).toEqual([
    ['ask', 'human', 'open'],
    ['judge', 'agent', 'open'],
  ])
  expect(steps.map(stateOf)).toEqual(['human', 'child'])
})

test('a step that leaves one fact began with the fact before it, or as long ago as its work was measured', () => {
  const { steps } = barsAt([
    aMark(100, { becomes: 'work' }),
    aMark(900, { step: 'a', becomes: 'done' }),
    aMark(1_000, { step: 'b', becomes: 'done', hand: 'agent', ms: 600 }),
  ])
  expect(steps.map(told)).toEqual([[['work', 100, 900]], [['work', 400, 1_000]]])
})

test('work that fails backs off and works again: each attempt is a bar by itself', () => {
  const [print] = barsAt([
    begun,
    aMark(10, { step: 'print', becomes: 'retry', attempt: 1, code: 'STEP_FAILED' }),
    aMark(50, { step: 'print', becomes: 'work' }),
    aMark(60, { step: 'print', becomes: 'done', attempt: 2 }),
  ]).steps
  expect(print).toMatchObject({ outcome: 'done', attempts: 2 })
  const attempts = attemptsOf(print as Bar)
  expect(attempts.map(told)).toEqual([
    [
      ['work', 0, 10],
      ['retry', 10, 50],
    ],
    [['work', 50, 60]],
  ])
  expect(attempts.map(({ outcome }) => outcome)).toEqual(['failed', 'done'])
})

test('an uncertain step that a person lets run again is at work again, and an intent alone opens no second piece', () => {
  const [charge] = barsAt([
    begun,
    aMark(5, { step: 'charge', becomes: 'work', attempt: 1 }),
    aMark(9, { step: 'charge', becomes: 'doubt', attempt: 1 }),
    aMark(20, { step: 'charge', becomes: 'work' }),
    aMark(21, { step: 'charge', becomes: 'work', attempt: 2 }),
    aMark(30, { step: 'charge', becomes: 'failed', attempt: 2, code: 'STEP_FAILED' }),
  ]).steps
  expect(told(charge as Bar)).toEqual([
    ['work', 5, 9],
    ['doubt', 9, 20],
    ['work', 20, 30],
  ])
  expect(charge).toMatchObject({ attempts: 2, outcome: 'failed', code: 'STEP_FAILED' })
})

test('a wait for several events ends with the last of them', () => {
  const [wait] = barsAt([
    begun,
    aMark(1, { step: 'all', becomes: 'event' }),
    aMark(5, { step: 'all', becomes: 'done' }),
    aMark(9, { step: 'all', becomes: 'done' }),
  ]).steps
  expect(told(wait as Bar)).toEqual([['event', 1, 9]])
})

test('what was open when the run ended ends with it, not finished', () => {
  const { run, steps } = barsAt(
    [begun, aMark(1, { step: 'nap', becomes: 'sleep' }), aMark(9, { becomes: 'failed', code: 'RUN_CANCELLED' })],
    'cancelled',
  )
  expect(steps.map(({ outcome }) => outcome)).toEqual(['left'])
  expect(told(steps[0] as Bar)).toEqual([['sleep', 1, 9]])
  expect(run).toMatchObject({ outcome: 'failed', code: 'RUN_CANCELLED' })
  expect([beganAt(run), endedAt(run, 0)]).toEqual([START, START + 9])
})

test('a run that begins again after its end is open again, and its second life is a piece of its own', () => {
  const { run } = barsAt([begun, aMark(5, { becomes: 'failed' }), aMark(9, { becomes: 'work' })], 'waiting')
  expect(run.outcome).toBe('open')
  expect(told(run)).toEqual([
    ['life', 0, 5],
    ['life', 9, null],
  ])
})

test.each([
  ['queued', ['life', 'queued']],
  ['running', ['life', 'work']],
  ['waiting', ['life']],
] as const)('a run that is %s shows what no fact tells yet', (status, states) => {
  expect(barsAt([begun], status).run.pieces.map(({ state }) => state)).toEqual(states)
})

test('a run whose step is known to be at work does not work beside it', () => {
  const { run } = barsAt([begun, aMark(3, { step: 'mail', becomes: 'work' })], 'running')
  expect(told(run)).toEqual([['life', 0, null]])
})

test('no marks are no bars, and nothing breaks', () => {
  expect(barsAt([])).toMatchObject({ run: { pieces: [] }, steps: [] })
})
