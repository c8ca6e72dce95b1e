/** Reported usage is verified: the ways in which a report can be wrong, and the figure that counts instead. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isAllowedModel, isSameModel, type UsageReport, verifyUsage } from './usage.ts'

/** A dollar per million tokens, which is one micro-dollar per token. */
const price = (model: string, { input, output }: { readonly input: number; readonly output: number }): number | null =>
  model === 'unknown' ? null : input + output

const report = (change: Partial<UsageReport> = {}): UsageReport => ({
  usage: { tokensInput: 100, tokensOutput: 50, totalTokens: 150, estimatedCost: 0.00015 },
  modelUsed: 'm',
  modelAsked: 'm',
  inputBytes: 400,
  outputBytes: 200,
  maxTokens: 60,
  mostInput: null,
  ...change,
})
const saying = (usage: Partial<NonNullable<UsageReport['usage']>>, rest: Partial<UsageReport> = {}): UsageReport =>
  report({ usage: { tokensInput: 100, tokensOutput: 50, totalTokens: 150, estimatedCost: null, ...usage }, ...rest })

describe('the report', () => {
  test('[E9] usage-1: an honest report is accepted', () => {
    expect(verifyUsage(report(), price)).toEqual({
      tokensInput: 100,
      tokensOutput: 50,
      totalTokens: 150,
      cost: 150,
      source: 'reported',
      findings: [],
    })
  })

  test.each([
    ['total_mismatch', saying({ totalTokens: 7 }), { totalTokens: 150, cost: 150 }],
    ['over_max_tokens', saying({ tokensOutput: 70, totalTokens: 170 }), { tokensOutput: 60, totalTokens: 160 }],
    ['too_few_tokens', saying({ tokensOutput: 0, totalTokens: 100 }), { tokensOutput: 50, source: 'estimated' }],
    ['cost_mismatch', saying({ estimatedCost: 0.0001 }), { cost: 150 }],
    ['model_mismatch', saying({}, { modelUsed: 'other' }), { cost: 150 }],
  ] as const)('[E9] usage-2: %s is found, and our own figure counts', (finding, said, counts) => {
    expect(verifyUsage(said, price)).toMatchObject({ findings: [finding], ...counts })
  })

  test('[E9] a reported cost that is a fifth off is accepted, and an unknown price is unknown, not zero', () => {
    expect(verifyUsage(saying({ estimatedCost: 0.00018 }), price).findings).toEqual([])
    expect(verifyUsage(saying({ estimatedCost: 9 }, { modelUsed: 'unknown', modelAsked: null }), price)).toMatchObject({
      cost: null,
      findings: [],
    })
  })

  test('[E4] usage that is not reported is estimated, and without a model nothing was used', () => {
    expect(verifyUsage(report({ usage: null }), price)).toMatchObject({
      tokensInput: 100,
      tokensOutput: 50,
      source: 'estimated',
    })
    expect(verifyUsage(report({ usage: null, modelUsed: null, modelAsked: null }), price)).toMatchObject({
      totalTokens: 0,
      cost: 0,
    })
  })

  test('usage-1: the tokens that count add up and are not negative, whatever is reported', () => {
    const usage = fc.record({
      tokensInput: fc.nat(10_000),
      tokensOutput: fc.nat(10_000),
      totalTokens: fc.nat(20_000),
      estimatedCost: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
    })
    fc.assert(
      fc.property(
        fc.option(usage),
        fc.nat(10_000),
        fc.option(fc.integer({ min: 1, max: 10_000 })),
        (said, bytes, max) => {
          const found = verifyUsage(report({ usage: said, outputBytes: bytes, maxTokens: max }), price)
          expect(found.totalTokens).toBe(found.tokensInput + found.tokensOutput)
          expect(found.cost).toBe(found.totalTokens)
          expect(found.tokensOutput).toBeGreaterThanOrEqual(0)
        },
      ),
    )
  })
})

describe('the model', () => {
  test('[E5] the model used is the requested one or a dated form of it', () => {
    expect(isSameModel('claude-x-20250929', 'claude-x')).toBe(true)
    expect(isSameModel('gpt-x-2025-09-29', 'gpt-x')).toBe(true)
    expect(isSameModel('gpt-x-mini', 'gpt-x')).toBe(false)
    expect(isAllowedModel('b', ['a', 'b'])).toBe(true)
    expect(isAllowedModel('c', ['a', 'b'])).toBe(false)
    expect(isAllowedModel('c', [])).toBe(false)
    expect(isAllowedModel('c', undefined)).toBe(true)
  })
})
