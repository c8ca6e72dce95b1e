/** The git graph of a session and its forks. */
import { expect, test } from 'vitest'
import type { Checkpoint } from '../../api/documents.ts'
import { lanesOf, modesOf } from './lanes.ts'

const mark = (second: number, kind: Checkpoint['kind'], id: string | null, mode = 'interactive'): Checkpoint => ({
  ...{ seq: second, kind, id, mode, parents: [], root: null, changes: 0 },
  at: `2026-01-01T00:00:0${second}.000Z`,
})

const own = {
  session: 'one',
  marks: [mark(1, 'created', null), mark(2, 'checkpoint', 'a'), mark(4, 'checkpoint', 'b')],
}
const fork = { session: 'two', marks: [mark(3, 'created', 'a'), mark(5, 'checkpoint', 'c')] }

test('rows are the newest first, each session on its lane', () =>
  expect(lanesOf([own, fork]).rows.map((row) => [row.lane, row.mark.kind, row.mark.id])).toEqual([
    [1, 'checkpoint', 'c'],
    [0, 'checkpoint', 'b'],
    [1, 'created', 'a'],
    [0, 'checkpoint', 'a'],
    [0, 'created', null],
  ]))

test('a lane is one line, and a fork leaves the checkpoint it was taken from', () => {
  const { lines, count } = lanesOf([own, fork])
  expect(count).toBe(2)
  expect(lines.map(({ from, to }) => [from.row, from.lane, to.row, to.lane])).toEqual([
    [0, 1, 2, 1],
    [1, 0, 3, 0],
    [2, 1, 3, 0],
    [3, 0, 4, 0],
  ])
})

test('modes are told where they change', () =>
  expect(
    modesOf([mark(1, 'created', null), mark(2, 'checkpoint', 'a', 'daemon'), mark(3, 'checkpoint', 'b', 'daemon')]),
  ).toEqual([
    { mode: 'interactive', at: '2026-01-01T00:00:01.000Z' },
    { mode: 'daemon', at: '2026-01-01T00:00:02.000Z' },
  ]))
