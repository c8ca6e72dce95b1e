/** Several gates on one budget, compared with one throttle that sees all of their arrivals in order. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { gate } from '#model/flow/gate.ts'
import type { GateState } from '#model/flow/gate-fact.ts'
import { sharedTurns } from '#model/flow/gate-read.ts'
import { fold } from '#model/kernel/machine.ts'
import { anArrival, policiesWith, runOf } from '#test/support/stories/gate-story.ts'
import { PATIENCE_MS, policyCases } from '#test/support/stories/policy-cases.ts'
import { recordTurn, type ThrottleState, takeTurn } from './throttle.ts'

const CASES = policyCases(23)
const anyPolicy = fc.record({
  limit: fc.integer({ min: 1, max: 4 }),
  periodMs: fc.integer({ min: 1, max: 50 }),
  burst: fc.integer({ min: 1, max: 3 }),
})
const anyVisit = fc.record({
  who: fc.nat(2),
  key: fc.constantFrom('a', 'b'),
  gapMs: fc.nat(20),
  count: fc.integer({ min: 1, max: 3 }),
})

test(
  '[H5] gates that share a budget start runs as one throttle for all of them would, read back from text at any time',
  () => {
    fc.assert(
      fc.property(anyPolicy, fc.array(anyVisit, { maxLength: 20 }), (policy, visits) => {
        const policies = policiesWith({ throttle: { ...policy, shared: 'mail' } })
        const opened = fold(gate, [{ type: 'gate.opened', at: 0, cursor: 0 }])
        const gates: GateState[] = [opened, opened, opened]
        let budget: GateState = opened
        let oracle: ThrottleState = []
        let now = 1
        let sequence = 0
        for (const { who, key, gapMs, count } of visits) {
          now += gapMs
          const arrivals = Array.from({ length: count }, () => anArrival(++sequence, { throttleKey: key }))
          const shared = budget.kind === 'open' ? budget.throttles : []
          const told = { arrivals, refused: [], cursor: sequence, policies, runOf, shared, now }
          const decision = gate.decide(gates[who] ?? opened, { type: 'arrive', ...told })
          if (decision.kind === 'refused') throw new Error(decision.detail)
          gates[who] = fold(gate, decision.facts, gates[who] ?? opened)
          const turns = gate.decide(budget, { type: 'take_turns', now, turns: sharedTurns(decision.facts) })
          if (turns.kind === 'facts') budget = JSON.parse(JSON.stringify(fold(gate, turns.facts, budget)))
          const starts = decision.facts.flatMap((fact) => (fact.type === 'gate.started' ? [fact.notBefore ?? now] : []))
          const expected = arrivals.map(() => {
            const { notBefore, turn } = takeTurn(oracle, policy, { key, cost: 1, now })
            oracle = recordTurn(oracle, turn, now)
            return notBefore
          })
          expect(starts).toEqual(expected)
        }
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)
