/**
 * The price of a call: from the system's own prices first, then from the table of the price package. The only importer of that package.
 *
 * Owns which price applies and what it is called. An unknown price is null, shown as unknown, never 0.
 *
 * prices-1  The provider is always named: a local model called like a famous one is not billed as it.
 * prices-2  A price that was found by similarity of names is marked approximate.
 */
import { createRequire } from 'node:module'
import type { PriceCalculation } from '@pydantic/genai-prices'
import type { ModelPrice } from '#model/agent/agent.ts'
import type { ModelUsage } from '#ports/model.ts'

export interface Price {
  /** Whole micro-dollars. */
  readonly micros: number
  /** The model that the price belongs to. */
  readonly model: string
  readonly source: 'manifest' | 'table'
  /** True: the price is that of a model with a similar name; this one is not in the table. */
  readonly approximate: boolean
}

/** Null: the price is unknown, or the provider's counts are impossible. */
export type PriceOf = (provider: string, modelId: string, usage: ModelUsage) => Price | null

const MICROS = 1_000_000
/** Binary fractions are slightly off: 4500.000000000001 means 4500. */
const NOISE = 1e-6

const wholeMicros = (dollars: number): number => Math.max(0, Math.ceil(dollars * MICROS - NOISE))

/** Suffix of the same model that names its release: `claude-sonnet-4-5-20250929`, `gpt-4.1-2025-04-14`. */
const DATED = /-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$/

const isPossible = ({ input, output, cachedInput, cacheWrites }: ModelUsage): boolean =>
  [input, output, cachedInput, cacheWrites].every((count) => Number.isFinite(count) && count >= 0) &&
  cachedInput + cacheWrites <= input

const byManifest = (price: ModelPrice, usage: ModelUsage): number => {
  const plain = usage.input - usage.cachedInput - usage.cacheWrites
  const dollars =
    plain * price.input +
    usage.cachedInput * (price.cachedInput ?? price.input) +
    usage.cacheWrites * (price.cacheWrites ?? price.input) +
    usage.output * price.output
  return wholeMicros(dollars / MICROS)
}

/** Loaded by the first lookup, so that a start does not load the table. */
const table = (): typeof import('@pydantic/genai-prices') => createRequire(import.meta.url)('@pydantic/genai-prices')

const byTable = (providerId: string, modelId: string, usage: ModelUsage): PriceCalculation | null =>
  table().calcPrice(
    {
      input_tokens: usage.input,
      output_tokens: usage.output,
      cache_read_tokens: usage.cachedInput,
      cache_write_tokens: usage.cacheWrites,
    },
    modelId,
    { providerId },
  )

export const priceList =
  (prices: ReadonlyMap<string, ModelPrice>): PriceOf =>
  (provider, modelId, usage) => {
    if (!isPossible(usage)) return null
    const undated = modelId.replace(DATED, '')
    for (const id of [modelId, undated]) {
      const own = prices.get(id)
      if (own !== undefined) {
        return { micros: byManifest(own, usage), model: id, source: 'manifest', approximate: false }
      }
    }
    // Without a provider the package would guess one from the name (prices-1).
    const found = provider === '' ? null : byTable(provider, modelId, usage)
    if (found === null) return null
    const model = found.model.id
    const approximate = model !== modelId && model.replace(DATED, '') !== undated
    return { micros: wholeMicros(found.total_price), model, source: 'table', approximate }
  }
