/** The tally: sums, distributions and the limit on label values. */
import { expect, test } from 'vitest'
import type { CountedName } from './table.ts'
import { Tally } from './tally.ts'

const counted = (tally: Tally, metric: CountedName): Readonly<Record<string, number>> =>
  Object.fromEntries(tally.read(metric).map(({ labels, sum }) => [labels.join(), sum]))

test('ticks with the same labels are added up', () => {
  const tally = new Tally()
  const tick = (model: string, value: number) => ({ metric: 'tokens_total', labels: [model, 'input'], value }) as const
  tally.add([tick('opus', 10), tick('haiku', 1), tick('opus', 5)])
  expect(counted(tally, 'tokens_total')).toEqual({ 'opus,input': 15, 'haiku,input': 1 })
})

test('a value of a distribution counts in the first bucket whose bound it does not exceed', () => {
  const tally = new Tally()
  for (const value of [1, 2, 3, 256, 257]) tally.add([{ metric: 'commit_appends', labels: [], value }])
  expect(tally.read('commit_appends')).toEqual([{ labels: [], count: 5, sum: 519, under: [1, 1, 1, 0, 0, 0, 0, 1] }])
})

test('tally-1: past 200 values of a label further ones count as other, and the first 200 are still counted', () => {
  const tally = new Tally()
  for (let n = 0; n < 300; n++) tally.add([{ metric: 'decisions_total', labels: [`action-${n}`], value: 1 }])
  tally.add([{ metric: 'decisions_total', labels: ['action-7'], value: 1 }])
  const sums = counted(tally, 'decisions_total')
  expect(Object.keys(sums)).toHaveLength(201)
  expect(sums).toMatchObject({ other: 100, 'action-7': 2, 'action-199': 1 })
})
