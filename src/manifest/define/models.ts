/**
 * The models of a system: their aliases and their prices.
 *
 * Owns their spelling. Which provider answers, and with which key, is found at start (assemble.ts).
 */
import type { ModelAlias, ModelBook, ModelPrice } from '#model/agent/agent.ts'
import { invalid } from './invalid.ts'

export interface ModelAliasSource {
  readonly id: string
  readonly provider?: string
  readonly baseUrl?: string
  readonly api?: 'chat' | 'responses'
  readonly context?: number
  readonly structured?: boolean
}

export interface ModelsSource {
  /** The model of agents that name none. */
  readonly default?: string
  readonly aliases?: Readonly<Record<string, string | ModelAliasSource>>
  /** Dollars for a million tokens, by model id. */
  readonly prices?: Readonly<Record<string, Partial<ModelPrice> & { readonly input: number; readonly output: number }>>
}

const DEFAULT_MODEL = 'sonnet'

/** A manifest may leave the value empty. */
const aliasOf = (alias: string, given: string | ModelAliasSource | null): ModelAlias => {
  const source: Partial<ModelAliasSource> = typeof given === 'string' ? { id: given } : (given ?? {})
  const { id, provider = null, baseUrl = null, api = null, context = null, structured = null } = source
  if (typeof id !== 'string' || id === '') throw invalid(`models.${alias}`, 'expected the id of a model')
  return { alias, id, provider, baseUrl, api, context, structured }
}

const priceOf = (id: string, given: NonNullable<ModelsSource['prices']>[string]): ModelPrice => {
  const price = { cachedInput: null, cacheWrites: null, ...given }
  for (const dollars of Object.values(price))
    if (dollars !== null && !(Number.isFinite(dollars) && dollars >= 0))
      throw invalid(`prices.${id}`, 'a price must be a number: dollars per million tokens')
  return price
}

export const defineModels = (source: ModelsSource = {}): ModelBook => ({
  fallback: source.default ?? DEFAULT_MODEL,
  aliases: new Map(Object.entries(source.aliases ?? {}).map(([alias, given]) => [alias, aliasOf(alias, given)])),
  prices: new Map(Object.entries(source.prices ?? {}).map(([id, given]) => [id, priceOf(id, given)])),
})
