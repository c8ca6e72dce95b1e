/** The rows of the timeline, collapsed and expanded. */
import { expect, test } from 'vitest'
import type { Mark, RunMarks } from '../../api/documents.ts'
import { calledBy, type Row, rowsOf } from './rows.ts'

const ROOT = `run_${'a'.repeat(32)}`
const CHILD = `run_${'b'.repeat(32)}`

const marks = (...given: readonly Partial<Mark>[]): RunMarks['marks'] =>
  given.map((mark, seq) => ({ seq, type: 'any', text: '', at: new Date(seq * 1_000).toISOString(), ...mark }))

const root: RunMarks = {
  id: ROOT,
  handler: 'greet',
  status: 'waiting',
  marks: marks(
    { becomes: 'work' },
    { step: 'print', becomes: 'retry', attempt: 1 },
    { step: 'print', becomes: 'work' },
    { step: 'print', becomes: 'done', attempt: 2 },
    { step: 'count', becomes: 'child', child: CHILD },
  ),
}
const child: RunMarks = {
  id: CHILD,
  handler: 'count-letters',
  status: 'success',
  marks: marks({ becomes: 'work' }, { step: 'count', becomes: 'done' }, { becomes: 'done' }),
}

const shown = (known: readonly RunMarks[], ...unfolded: readonly string[]): readonly Row[] =>
  rowsOf(ROOT, new Map(known.map((one) => [one.id, one])), new Set(unfolded))
const told = (rows: readonly Row[]) => rows.map(({ level, name, isUnfolded }) => [level, name, isUnfolded])

test('a folded run is one row, an unfolded one has its steps below it', () => {
  expect(told(shown([root]))).toEqual([[1, 'greet', false]])
  expect(told(shown([root], ROOT))).toEqual([
    [1, 'greet', true],
    [2, 'print', false],
    [2, 'count', false],
  ])
})

test('attempts are rows of their step, and steps of a called run rows of the step that called it', () => {
  const rows = shown([root, child], ROOT, `${ROOT} print`, `${ROOT} count`)
  expect(told(rows)).toEqual([
    [1, 'greet', true],
    [2, 'print', true],
    [3, 'attempt 1', null],
    [3, 'attempt 2', null],
    [2, 'count', true],
    [3, 'count', null],
  ])
  expect(rows.map(({ run, step }) => [run === CHILD, step])).toEqual([
    [false, null],
    [false, 'print'],
    [false, 'print'],
    [false, 'print'],
    [false, 'count'],
    [true, 'count'],
  ])
  expect(new Set(rows.map(({ key }) => key)).size).toBe(rows.length)
})

test('a row knows its parent and its place among its siblings', () => {
  const rows = shown([root], ROOT, `${ROOT} print`)
  const second = rows.find(({ name }) => name === 'attempt 2')
  expect(second).toMatchObject({ parent: `${ROOT} print`, position: 2, siblings: 2 })
})

test('a called run that is not here yet is one row that says so', () => {
  const rows = shown([root], ROOT, `${ROOT} count`)
  expect(rows.at(-1)).toMatchObject({ kind: 'loading', level: 3, parent: `${ROOT} count` })
  expect(rows.map(calledBy)).toEqual([null, null, CHILD, null])
})

test('a run that is not known has no rows', () => {
  expect(shown([])).toEqual([])
})
