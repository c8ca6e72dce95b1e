/** Prices of calls: known, approximate and unknown models, and impossible counts. */
import { describe, expect, test } from 'vitest'
import type { ModelUsage } from '#ports/model.ts'
import { priceList } from './prices.ts'

const usage = (over: Partial<ModelUsage> = {}): ModelUsage => ({
  input: 1_000,
  output: 100,
  cachedInput: 0,
  cacheWrites: 0,
  reasoning: 0,
  ...over,
})
const table = priceList(new Map())

describe('the table', () => {
  test('[B7] a known model has its price in whole micro-dollars', () => {
    expect(table('anthropic', 'claude-sonnet-4-5', usage())).toEqual({
      micros: 4_500,
      model: 'claude-sonnet-4-5',
      source: 'table',
      approximate: false,
    })
  })

  test.each([
    ['anthropic', 'claude-sonnet-4-5-20250929'],
    ['openai', 'gpt-4.1-2025-04-14'],
  ])('%s %s is priced as the model without its date', (provider, id) => {
    expect(table(provider, id, usage())).toMatchObject({ approximate: false, source: 'table' })
  })

  test('prices-2: a price of a similar model is marked approximate and names that model', () => {
    expect(table('anthropic', 'claude-sonnet-5.5', usage())).toMatchObject({
      model: 'claude-sonnet-5',
      approximate: true,
    })
  })

  test('cached input costs less', () => {
    const plain = table('anthropic', 'claude-sonnet-4-5', usage())?.micros ?? 0
    const cached = table('anthropic', 'claude-sonnet-4-5', usage({ cachedInput: 900 }))?.micros ?? 0
    expect(cached).toBeGreaterThan(0)
    expect(cached).toBeLessThan(plain)
  })

  test('[B7] prices-1: a local model with the name of a famous one has no price', () => {
    expect(table('openai', 'gpt-4.1', usage())).not.toBeNull()
    expect(table('local', 'gpt-4.1', usage())).toBeNull()
  })

  test.each([
    ['anthropic', 'nobody-knows-it'],
    ['', 'gpt-4.1'],
    ['anthropic', ''],
  ])('[B7] %s %s has an unknown price, not zero', (provider, id) => {
    expect(table(provider, id, usage())).toBeNull()
  })

  test.each<Partial<ModelUsage>>([
    { cachedInput: 2_000 },
    { cachedInput: 600, cacheWrites: 600 },
    { input: -1 },
    { output: Number.NaN },
    { input: Number.POSITIVE_INFINITY },
  ])('an impossible count, %o, has no price', (over) => {
    expect(table('anthropic', 'claude-sonnet-4-5', usage(over))).toBeNull()
  })

  test('a single token costs at least one micro-dollar', () => {
    expect(table('openai', 'gpt-4.1-mini', usage({ input: 1, output: 0 }))?.micros).toBe(1)
  })
})

describe('prices of the system', () => {
  const own = priceList(
    new Map([
      ['gpt-4.1', { input: 1, output: 10, cachedInput: 0.5, cacheWrites: null }],
      ['free', { input: 0, output: 0, cachedInput: null, cacheWrites: null }],
    ]),
  )

  test('[E4] take precedence for every provider', () => {
    expect(own('local', 'gpt-4.1', usage())).toEqual({
      micros: 2_000,
      model: 'gpt-4.1',
      source: 'manifest',
      approximate: false,
    })
  })

  test('apply to the dated form of a model too', () => {
    expect(own('openai', 'gpt-4.1-2025-04-14', usage())).toMatchObject({ micros: 2_000, source: 'manifest' })
  })

  test('have cache rates; a rate that is not given is that of plain input', () => {
    expect(own('x', 'gpt-4.1', usage({ cachedInput: 400, cacheWrites: 100 }))?.micros).toBe(1_800)
  })

  test('may be zero', () => {
    expect(own('x', 'free', usage())?.micros).toBe(0)
  })
})
