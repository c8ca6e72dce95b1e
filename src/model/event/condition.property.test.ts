/** Conditions, compared with an oracle that looks at the whole history of samples each time and keeps no state. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PATIENCE_MS, policyCases } from '#test/support/stories/policy-cases.ts'
import {
  CONDITION_EDGES,
  type ConditionPolicy,
  type ConditionSample,
  type ConditionState,
  newCondition,
  sampleCondition,
} from './condition.ts'

const policies = fc.record({
  edge: fc.constantFrom(...CONDITION_EDGES),
  forMs: fc.constantFrom(0, 5, 12),
  pauseMs: fc.constantFrom(0, 0, 20),
  hasRearmRule: fc.boolean(),
})
const samples = fc
  .array(fc.record({ wait: fc.integer({ min: 1, max: 9 }), value: fc.boolean(), rearm: fc.boolean() }), {
    maxLength: 40,
  })
  .map((list) => {
    let now = 0
    return list.map(({ wait, value, rearm }): ConditionSample => {
      now += wait
      return { now, value, rearm }
    })
  })

/** Returns the samples that meet the condition, each decided from the list alone. */
const oracle = (policy: ConditionPolicy, list: readonly ConditionSample[]): readonly number[] => {
  const fired: number[] = []
  const wanted = policy.edge !== 'falling'
  const counted = (): unknown => list[fired.at(-1) ?? 0]?.value
  const holds = (i: number): boolean =>
    policy.edge === 'change' ? list[i]?.value !== counted() : list[i]?.value === wanted
  for (let i = 0; i < list.length; i++) {
    const now = list[i]?.now ?? 0
    let first = i
    const isSame = (j: number): boolean => list[j]?.value === list[i]?.value
    while (first > (policy.edge === 'change' ? (fired.at(-1) ?? 0) + 1 : 0) && holds(first - 1) && isSame(first - 1))
      first--
    const hasHeld = holds(i) && now - (list[first]?.now ?? 0) >= policy.forMs
    const lastFired = fired.at(-1)
    const isRested = lastFired === undefined || now - (list[lastFired]?.now ?? 0) >= policy.pauseMs
    const turned = list.slice(lastFired === undefined ? 0 : lastFired + 1, i).some((one) => {
      return one.value !== wanted && (!policy.hasRearmRule || one.rearm)
    })
    const isArmed = policy.edge === 'level' || policy.edge === 'change' || turned
    const isFirst = lastFired === undefined && policy.edge === 'rising'
    if (hasHeld && isRested && (isArmed || isFirst)) fired.push(i)
  }
  return fired
}

const manyValued = ({ value, ...sample }: ConditionSample): ConditionSample => ({
  ...sample,
  value: value === true ? 'up' : sample.rearm ? 'down' : 'away',
})

const play = (policy: ConditionPolicy, list: readonly ConditionSample[], restart: number): readonly number[] => {
  let state = newCondition(policy)
  return list.flatMap((sample, i) => {
    if (i === restart) state = JSON.parse(JSON.stringify(state)) as ConditionState
    const verdict = sampleCondition(policy, state, sample)
    state = verdict.state
    return verdict.isMet ? [i] : []
  })
}

test(
  '[L3] condition-1, condition-2, condition-3: a condition is met exactly when its history says so, also across a restart',
  () => {
    fc.assert(
      fc.property(policies, samples, fc.nat({ max: 40 }), (policy, drawn, restart) => {
        const list = policy.edge === 'change' ? drawn.map(manyValued) : drawn
        expect(play(policy, list, restart)).toEqual(oracle(policy, list))
      }),
      policyCases(3),
    )
  },
  PATIENCE_MS,
)

test('a clock that is set back delays a condition at most by the time for which it must hold', () => {
  const policy: ConditionPolicy = { edge: 'rising', forMs: 10, pauseMs: 0, hasRearmRule: false }
  const times = [100, 50, 55, 60]
  const met = play(
    policy,
    times.map((now) => ({ now, value: true, rearm: false })),
    -1,
  )
  expect(met).toEqual([3])
})
