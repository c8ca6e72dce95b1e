/** Triggers with options of their own, compared with separate gates: at one gate they behave as each would alone. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Arrival } from '#model/event/arrival.ts'
import { fold } from '#model/kernel/machine.ts'
import { anArrival, policiesWith, runOf } from '#test/support/stories/gate-story.ts'
import { PATIENCE_MS, policyCases } from '#test/support/stories/policy-cases.ts'
import { gate } from './gate.ts'
import type { FlowPolicies, GateFact, GateState } from './gate-fact.ts'
import { gateWakeAt } from './gate-read.ts'

const CASES = policyCases(31)
const ms = fc.integer({ min: 1, max: 15 })
const anyOwn: fc.Arbitrary<Partial<FlowPolicies>> = fc.oneof(
  fc.record({ rateLimit: fc.record({ limit: fc.integer({ min: 1, max: 3 }), periodMs: ms }) }),
  fc.record({
    debounce: fc.record({ periodMs: ms, mode: fc.constantFrom('trailing', 'leading'), maxWaitMs: fc.option(ms) }),
  }),
  fc.record({
    batch: fc.record({ maxSize: fc.integer({ min: 1, max: 3 }), maxWaitMs: ms, maxBytes: fc.constant(1_000) }),
  }),
  fc.record({
    idempotency: fc.record({
      release: fc.constant('ttl' as const),
      ttlMs: ms,
      onConflict: fc.constant('reject' as const),
    }),
  }),
)
const anyVisit = fc.record({
  by: fc.constantFrom('', 'trigger 1', 'trigger 2'),
  key: fc.constantFrom('a', 'b'),
  gapMs: fc.nat(8),
})

interface Told {
  readonly at: number
  readonly arrival: Arrival
}

const seen = (facts: readonly GateFact[]): readonly unknown[] =>
  facts.flatMap((fact): readonly unknown[] => {
    if (fact.type === 'gate.started') return [{ at: fact.at, events: fact.events }]
    return fact.type === 'trigger.suppressed' ? [{ at: fact.at, sequence: fact.sequence, reason: fact.reason }] : []
  })

/** Reads the state back from text after every decision. */
const drive = (told: readonly Told[], policies: FlowPolicies, ofTriggers?: ReadonlyMap<string, FlowPolicies>) => {
  const history: GateFact[] = []
  let state: GateState = fold(gate, [{ type: 'gate.opened', at: 0, cursor: 0 }])
  const rules = { policies, runOf, ...(ofTriggers !== undefined && { ofTriggers }) }
  const give = (command: Parameters<typeof gate.decide>[1]): void => {
    const decision = gate.decide(state, command)
    if (decision.kind === 'refused') throw new Error(decision.detail)
    history.push(...decision.facts)
    state = JSON.parse(JSON.stringify(fold(gate, decision.facts, state))) as GateState
  }
  const passTo = (at: number): void => {
    for (let due = gateWakeAt(state); due !== null && due <= at; due = gateWakeAt(state))
      give({ type: 'pass_time', now: due, ...rules })
  }
  for (const { at, arrival } of told) {
    passTo(at)
    give({ type: 'arrive', now: at, arrivals: [arrival], refused: [], cursor: arrival.sequence, ...rules })
  }
  passTo(1_000_000)
  return history
}

const bySequence = (a: unknown, b: unknown): number => JSON.stringify(a).localeCompare(JSON.stringify(b))

test(
  'the options of a trigger apply to its events as if it had a gate of its own, across restarts',
  () => {
    fc.assert(
      fc.property(anyOwn, anyOwn, anyOwn, fc.array(anyVisit, { maxLength: 20 }), (handlers, first, second, visits) => {
        let at = 1
        const told = visits.map(({ by, key, gapMs }, i): Told & { readonly by: string } => {
          at += gapMs
          const text = by === '' ? key : `${by}\n${key}`
          const keys = { rateKey: text, windowKey: text, idempotencyKey: text }
          return { by, at, arrival: anArrival(i + 1, { time: at, ...keys, ...(by !== '' && { trigger: by }) }) }
        })
        const own = new Map([
          ['', policiesWith(handlers)],
          ['trigger 1', policiesWith(first)],
          ['trigger 2', policiesWith(second)],
        ])
        const together = seen(drive(told, policiesWith(handlers), own)).toSorted(bySequence)
        const alone = [...own].flatMap(([by, policies]) =>
          seen(
            drive(
              told.filter((one) => one.by === by),
              policies,
            ),
          ),
        )
        expect(together).toEqual(alone.toSorted(bySequence))
      }),
      CASES,
    )
  },
  PATIENCE_MS,
)
