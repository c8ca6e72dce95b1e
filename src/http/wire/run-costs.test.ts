/** Summaries of the costs of runs. */
import { expect, test } from 'vitest'
import { type RunId, runId } from '#model/kernel/ids.ts'
import type { RunStatus } from '#model/run/status.ts'
import { percentile, type RunSpent, runCosts } from './run-costs.ts'

test.each([
  [[], 0.5, null],
  [[7], 0.5, 7],
  [[4, 1, 3, 2], 0.5, 2],
  [Array.from({ length: 100 }, (_, i) => 100 - i), 0.95, 95],
])('the percentile of %j at %d is %j', (amounts, share, found) => expect(percentile(amounts, share)).toBe(found))

test('completed runs count for the cost per run, failed ones as waste, those with unknown prices separately', () => {
  const ends: Record<string, RunStatus> = { a: 'success', b: 'partial', c: 'failed', d: 'success', e: 'waiting' }
  const idOf = (letter: string): RunId => runId(letter.repeat(32))
  const spent = [...'abcdef'].map(
    (letter, i): RunSpent => ({ run: idOf(letter), micros: (i + 1) * 10, unpricedCalls: letter === 'd' ? 1 : 0 }),
  )
  const statusOf = (run: RunId) => ends[run.at(-1) ?? ''] ?? null
  expect(runCosts(spent, statusOf)).toEqual({
    ...{ finished: 2, p50: 10, p95: 20 },
    ...{ failed: 1, wasted: 30, unpriced: 1, open: 1 },
  })
})
