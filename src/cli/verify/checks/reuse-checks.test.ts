/** Results that a run has reused from another: they must exist there, for the same step and with the same value. */
import { expect, test } from 'vitest'
import type { RunId } from '#model/kernel/ids.ts'
import { inline, NOTHING } from '#model/kernel/payload.ts'
import type { ReusedStep, RunFact } from '#model/run/fact.ts'
import { aLedger, judge } from '#test/support/judged.ts'
import { fact, started } from '#test/support/stories/run-story.ts'

const OLD = [
  started(),
  fact('step.completed', { step: 'a', result: inline(1) }),
  fact('timer.set', { step: 'nap', at: 20, wakeAt: 50 }),
  fact('timer.fired', { step: 'nap', at: 60 }),
  fact('child.started', { step: 'call', at: 60 }),
  fact('child.ended', { step: 'call', at: 60, end: { kind: 'done', result: inline({ n: 2 }) } }),
  fact('run.completed', { at: 70 }),
]

const done = (value: unknown) => ({ kind: 'done', result: inline(value as never) }) as const

const judged = async (reuse: (old: RunId) => readonly ReusedStep[], tenant = 'local') => {
  const ledger = await aLedger()
  const old = await ledger.run(OLD, { tenant })
  const reused = reuse(old).map((one): RunFact => fact('step.reused', { ...one }))
  await ledger.run([started(), ...reused, fact('run.completed', { at: 900 })])
  return (await judge(ledger)).map(({ id, seq }) => [id, seq])
}

const whole = (of: RunId): readonly ReusedStep[] => [
  { step: 'a', of, seq: 1, settled: done(1) },
  { step: 'nap', of, seq: 3, settled: { kind: 'done', result: NOTHING } },
  { step: 'call', of, seq: 5, settled: done({ n: 2 }) },
]

test('[V7] results that are the same in the other run are valid', async () => {
  expect(await judged(whole)).toEqual([])
})

test.each<readonly [string, Partial<ReusedStep>]>([
  ['another result', { settled: done(7) }],
  ['the result of another step', { seq: 5 }],
  ['what is no result', { seq: 2, step: 'nap' }],
  ['a fact that is not there', { seq: 99 }],
  ['a place that is none', { seq: 0.5 }],
])('[V7] a reuse of %s is found', async (_, change) => {
  expect(await judged((of) => [{ step: 'a', of, seq: 1, settled: done(1), ...change }])).toEqual([['V7', 1]])
})

test('[V7] a reused result of another tenant is found, and one for a step that has its result already', async () => {
  expect(await judged(whole, 'other')).toEqual([
    ['V7', 1],
    ['V7', 2],
    ['V7', 3],
  ])
  expect(await judged((of) => [...whole(of), { step: 'a', of, seq: 1, settled: done(1) }])).toEqual([['V7', 4]])
})
