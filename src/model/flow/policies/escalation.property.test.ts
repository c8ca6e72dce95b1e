/** Escalation fails closed, for any confidence of an agent and any answer of its rules. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileRule } from '#manifest/expressions/rules.ts'
import type { EscalationRule } from '#model/agent/agent.ts'
import type { Json } from '#model/kernel/json.ts'
import type { RuleAnswer } from '#model/kernel/rule.ts'
import { policyCases } from '#test/support/stories/policy-cases.ts'
import { confidenceOf, type Escalation, escalationOf } from './escalation.ts'

const CASES = policyCases(7)
const LOW: EscalationRule = { condition: 'agent.confidence < 0.6', escalateTo: 'human', reason: 'Low confidence' }
const ASKED: EscalationRule = {
  condition: "agent.output.category == 'escalate'",
  escalateTo: 'desk',
  reason: 'Agent requested escalation',
}

/** Returns the escalation of a result, with the real expression language. */
const judge = (rules: readonly EscalationRule[], output: Json, confidence: unknown, scale = 1): Escalation | null => {
  const share = confidenceOf(confidence, scale)
  const agent = share === null ? { output } : { output, confidence: share }
  const answers = rules.map(({ condition }) => compileRule(condition, ['agent'])({ agent }))
  return escalationOf(rules, answers, share)
}

describe('[D1] a rule over the confidence', () => {
  test('passes a low one to a person with its reason, and does nothing for a high one', () => {
    expect(judge([LOW, ASKED], { category: 'lead' }, 0.42)).toEqual({ rule: 0, to: 'human', reason: 'Low confidence' })
    expect(judge([LOW, ASKED], { category: 'lead' }, 0.6)).toBeNull()
    expect(judge([LOW], {}, 42, 100)).toMatchObject({ rule: 0 })
    expect(judge([LOW], {}, 61, 100)).toBeNull()
  })

  test('the first rule that holds wins', () => {
    expect(judge([LOW, ASKED], { category: 'escalate' }, 0.1)).toMatchObject({ to: 'human' })
    expect(judge([LOW, ASKED], { category: 'escalate' }, 0.9)).toMatchObject({ to: 'desk', rule: 1 })
  })

  test('escalates for any value that is not a share', () => {
    const any = fc.oneof(
      fc.anything(),
      fc.double(),
      fc.constantFrom(Number.NaN, '0.9', null, undefined, -0.1, 1.1, [1]),
    )
    fc.assert(
      fc.property(any, fc.constantFrom(0, 1, 100, Number.NaN, Number.POSITIVE_INFINITY), (value, scale) => {
        const isShare = typeof value === 'number' && scale > 0 && scale < Infinity && value >= 0 && value <= scale
        const share = confidenceOf(value, scale)
        expect(share !== null).toBe(isShare)
        if (share === null) expect(judge([LOW], {}, value, scale)?.reason).toContain('rule could not be evaluated')
        else expect(judge([LOW], {}, value, scale) !== null).toBe(share < 0.6)
      }),
      // The expression language runs in each case.
      CASES,
    )
  })

  test('escalates for an impossible confidence even if the rule guards itself with has()', () => {
    const guarded = { ...LOW, condition: 'has(agent.confidence) && agent.confidence < 0.6' }
    expect(judge([guarded], {}, 42)).toMatchObject({ rule: 0 })
    expect(judge([guarded], {}, 0.9)).toBeNull()
  })

  test('a result without confidence is accepted if no rule reads it', () =>
    expect(judge([ASKED], { category: 'lead' }, undefined)).toBeNull())

  test('escalates if it reads a field that does not exist', () =>
    expect(judge([ASKED], {}, 0.9)).toMatchObject({ rule: 0, reason: expect.stringContaining(ASKED.condition) }))
})

test('[D1] a result is accepted only if every rule was evaluated and is false', () => {
  const answer: fc.Arbitrary<RuleAnswer> = fc.oneof(
    { arbitrary: fc.constant({ kind: 'value', value: false } as const), weight: 4 },
    {
      arbitrary: fc.record({ kind: fc.constant('value'), value: fc.constantFrom<Json[]>(true, 0, 'no', null, {}) }),
      weight: 1,
    },
    { arbitrary: fc.constant({ kind: 'error', detail: 'no such key' } as const), weight: 1 },
  )
  const rule = fc.constantFrom(LOW, ASKED)
  fc.assert(
    fc.property(
      fc.array(rule, { maxLength: 5 }),
      fc.array(answer, { maxLength: 5 }),
      fc.option(fc.constant(0.5)),
      (rules, answers, confidence) => {
        const isNo = (position: number): boolean => {
          const given = answers[position]
          const isKnown = confidence !== null || rules[position] === ASKED
          return isKnown && given?.kind === 'value' && given.value === false
        }
        const found = escalationOf(rules, answers, confidence)
        const first = rules.findIndex((_, position) => !isNo(position))
        expect(found?.rule ?? -1).toBe(first)
        if (found !== null) expect(found.to).toBe(rules[first]?.escalateTo)
      },
    ),
    CASES,
  )
})
