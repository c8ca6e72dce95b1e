/** The six overlap policies compared with an oracle that keeps a list of running and waiting runs. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { GateFact } from '#model/flow/gate-fact.ts'
import { countOf } from '#model/kernel/due-map.ts'
import { driveGate, startsOf, suppressionsOf } from '#test/support/stories/gate-drive.ts'
import { anArrival, policiesWith, runOf } from '#test/support/stories/gate-story.ts'
import { PATIENCE_MS, policyCases } from '#test/support/stories/policy-cases.ts'
import type { OverlapPolicy } from './overlap.ts'

/** Cases for each of the six policies. */
const CASES = policyCases(61, 1_000)
const POLICIES: readonly OverlapPolicy[] = [
  'allow',
  'skip',
  'buffer_one',
  'buffer_all',
  'cancel_running',
  'terminate_running',
]
const step = fc.record({
  /** Negative: an event arrives. Else the run at that place in the list of all runs ends. */
  ends: fc.oneof(fc.constant(-1), fc.nat(6)),
  key: fc.constantFrom('a', 'b'),
  restarts: fc.boolean(),
})

/** The oracle for one key: returns the expected facts of an arrival and of an end. */
const oracle = (policy: OverlapPolicy) => {
  const live = new Set<number>()
  const stopping = new Set<number>()
  let waiting: number[] = []
  const begin = (sequence: number): string => {
    live.add(sequence)
    return `${sequence} starts`
  }
  const stopAll = (): string[] => {
    const asked = [...live].filter((sequence) => !stopping.has(sequence))
    for (const sequence of asked) stopping.add(sequence)
    return asked.map((sequence) => `${sequence} stops`)
  }
  return {
    live,
    arrive: (sequence: number): string[] => {
      if (policy === 'terminate_running') {
        const stopped = stopAll()
        live.clear()
        return [...stopped, begin(sequence)]
      }
      if (policy === 'allow' || live.size === 0) return [begin(sequence)]
      if (policy === 'skip') return [`${sequence} overlap`]
      const displaced = policy === 'buffer_all' ? [] : waiting
      waiting = policy === 'buffer_all' ? [...waiting, sequence] : [sequence]
      return [
        ...(policy === 'cancel_running' ? stopAll() : []),
        ...displaced.map((older) => `${older} overlap into ${sequence}`),
      ]
    },
    end: (sequence: number): string[] => {
      if (!live.delete(sequence) || live.size > 0 || policy === 'allow') return []
      const next = waiting.shift()
      return next === undefined ? [] : [begin(next)]
    },
  }
}

const told = (facts: readonly GateFact[]): readonly string[] => [
  ...facts.flatMap((fact) =>
    fact.type === 'gate.cancel_wanted' ? [`${Number.parseInt(fact.run.slice(-8), 16)} stops`] : [],
  ),
  ...suppressionsOf(facts),
  ...startsOf(facts).map((line) => line.replace(/ event @.*/, ' starts')),
]

test.each(POLICIES)(
  '[H7] %s agrees with a simple list of running and waiting runs',
  (overlap) => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 18, size: 'max' }), (timeline) => {
        const drive = driveGate(policiesWith({ overlap }))
        const lines = { a: oracle(overlap), b: oracle(overlap) }
        const [actual, expected]: [string[], string[]] = [[], []]
        for (const [i, { ends, key, restarts }] of timeline.entries()) {
          const sequence = ends < 0 ? i + 1 : ends
          const facts =
            ends < 0
              ? drive.arrive(i + 1, [anArrival(sequence, { overlapKey: key })])
              : drive.end(i + 1, runOf(sequence), 'success')
          actual.push(...told(facts))
          expected.push(
            ...(ends < 0 ? lines[key].arrive(sequence) : [...lines.a.end(sequence), ...lines.b.end(sequence)]),
          )
          if (restarts) drive.restart()
        }
        expect(actual).toEqual(expected)
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)

test('[H7] a backlog of a thousand is full', () => {
  const drive = driveGate(policiesWith({ overlap: 'buffer_all' }))
  const facts = drive.arrive(
    1,
    Array.from({ length: 1_002 }, (_, i) => anArrival(i + 1)),
  )
  expect(suppressionsOf(facts)).toEqual(['1002 overlap'])
  expect(facts).toContainEqual(expect.objectContaining({ detail: expect.stringContaining('RUN_BACKLOG_FULL') }))
})

test('[H7] when all runs have ended, nothing of them stays in the state', () => {
  const drive = driveGate(policiesWith({ overlap: 'buffer_all' }))
  drive.arrive(
    1,
    Array.from({ length: 50 }, (_, i) => anArrival(i + 1, { overlapKey: `k${i % 7}` })),
  )
  for (let sequence = 1; sequence <= 50; sequence++) drive.end(sequence, runOf(sequence), 'failed')
  expect([countOf(drive.state().lines), countOf(drive.state().runs)]).toEqual([0, 0])
})

test('[H7] a run that cleans up for a newer one is terminated if the policy now says so', () => {
  const drive = driveGate(policiesWith({ overlap: 'cancel_running' }))
  drive.arrive(1, [anArrival(1), anArrival(2)])
  const policies = policiesWith({ overlap: 'terminate_running' })
  const facts = drive.give({
    type: 'arrive',
    now: 2,
    policies,
    runOf,
    arrivals: [anArrival(3)],
    refused: [],
    cursor: 3,
  })
  expect(facts).toContainEqual({ type: 'gate.cancel_wanted', at: 2, run: runOf(1), mode: 'terminate' })
})
