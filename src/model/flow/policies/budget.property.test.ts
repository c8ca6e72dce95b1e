/** Budgets with calls in any order: no call starts that could exceed the limit. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { policyCases } from '#test/support/stories/policy-cases.ts'
import { type Allowance, carve, NOTHING_SPENT, reserve, restOf, type Spent, spend, tokensOf } from './budget.ts'

const CASES = policyCases(79)
const price = (input: number, output: number): number => input * 3 + output * 15
const allowance = fc.record({ tokens: fc.nat(100_000), micros: fc.option(fc.nat(2_000_000)) })
const call = fc.record({
  requestBytes: fc.nat(60_000),
  maxOutputTokens: fc.integer({ min: 1, max: 8_192 }),
  /** The fraction of the reservation that the reply uses. */
  used: fc.double({ min: 0, max: 1, noNaN: true }),
})

test('budget-1: whatever the calls, the amount spent never exceeds the allowance', () => {
  fc.assert(
    fc.property(allowance, fc.array(call, { maxLength: 30 }), (limit: Allowance, calls) => {
      let spent: Spent = NOTHING_SPENT
      for (const { requestBytes, maxOutputTokens, used } of calls) {
        const answer = reserve(restOf(limit, spent), { requestBytes, maxOutputTokens, price })
        if (answer.kind === 'refused') continue
        const { tokens, micros } = answer.reservation
        expect(answer.reservation.maxOutputTokens).toBeLessThanOrEqual(maxOutputTokens)
        spent = spend(spent, Math.floor(tokens * used), Math.floor(micros * used))
      }
      expect(spent.tokens).toBeLessThanOrEqual(limit.tokens)
      if (limit.micros !== null) expect(spent.micros).toBeLessThanOrEqual(limit.micros)
    }),
    CASES,
  )
})

test('a call is refused only if not even a short answer fits', () => {
  fc.assert(
    fc.property(allowance, call, (limit, { requestBytes, maxOutputTokens }) => {
      const answer = reserve(limit, { requestBytes, maxOutputTokens, price })
      const input = tokensOf(requestBytes)
      const least = Math.min(256, maxOutputTokens)
      const fits = input + least <= limit.tokens && (limit.micros === null || price(input, least) <= limit.micros)
      expect(answer.kind).toBe(fits ? 'go' : 'refused')
    }),
    CASES,
  )
})

test('[B8] budget-2: all children together get no more than their parent has', () => {
  fc.assert(
    fc.property(allowance, fc.array(fc.option(fc.nat(50_000)), { minLength: 1, maxLength: 20 }), (limit, asks) => {
      let rest: Allowance = limit
      let given = 0
      for (const [index, asked] of asks.entries()) {
        const child = carve(rest, asked === null ? {} : { tokens: asked }, asks.length - index)
        given += child.tokens
        rest = restOf(rest, { ...child, micros: child.micros ?? 0, isEstimated: false })
      }
      expect(given).toBeLessThanOrEqual(limit.tokens)
    }),
    CASES,
  )
})

test('a budget in money with an unknown price starts no call', () => {
  fc.assert(
    fc.property(fc.nat(1_000_000), (micros) => {
      const answer = reserve({ tokens: 100_000, micros }, { requestBytes: 10, maxOutputTokens: 300, price: () => null })
      expect(answer).toMatchObject({ kind: 'refused', code: 'BUDGET_UNPRICED' })
    }),
    CASES,
  )
})
