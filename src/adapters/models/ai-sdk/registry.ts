/**
 * Resolves a model's name to a model and how to reach it, from the system's names and the environment's keys.
 *
 * Owns the built-in names, the choice between live and simulated, and what is missing. The choice is made at start, never as a fallback
 * for a call that failed. The first call loads the SDK, so that a start does not pay for it.
 */
import type { ModelAlias, ModelBook } from '#model/agent/agent.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Model, ModelName } from '#ports/model.ts'
import type { ModelSettings } from './settings.ts'

export type Variables = Readonly<Record<string, string | undefined>>

export interface Models {
  /** Which names the scripted model answers, which are all, and why. Null: models are live. */
  readonly simulated: string | null
  readonly model: Model
  /** A name of the system, a built-in one, or a model's id. */
  nameOf(name: string): ModelName
}

export interface ModelsInput {
  readonly book: ModelBook
  readonly environment: Variables
  /** Answers when models are simulated. */
  readonly scripted: Model
  /** Puts the environment's values in place of references like `${NAME}`. */
  readonly resolve: (text: string) => string
}

const BUILT_IN: Readonly<Record<string, string>> = {
  haiku: 'claude-haiku-4-5',
  sonnet: 'claude-sonnet-5',
  opus: 'claude-opus-5',
}
const ADDRESSES: Readonly<Record<string, string>> = {
  anthropic: 'https://api.anthropic.com/v1',
  openai: 'https://api.openai.com/v1',
}
/** Provider of a model at an address of its own without a provider's name. */
const UNNAMED = 'openai-compatible'
/** As many names as fit on a line of a terminal. */
const MOST_NAMES = 8
const CHOICES = ['auto', 'simulated', 'live']

const plainAlias = (alias: string, id: string): ModelAlias => ({
  alias,
  id,
  provider: null,
  baseUrl: null,
  api: null,
  context: null,
  structured: null,
})

const aliasOf = (book: ModelBook, name: string): ModelAlias =>
  book.aliases.get(name) ?? plainAlias(name, (Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined) ?? name)

/** A model with its own address and without a given provider belongs to no known provider, whatever its name. */
const providerOf = ({ provider, id, baseUrl, alias }: ModelAlias): string => {
  if (provider !== null) return provider
  if (baseUrl !== null) return UNNAMED
  if (id.startsWith('claude-')) return 'anthropic'
  if (/^(gpt-|chatgpt-|o\d)/.test(id)) return 'openai'
  throw new TrihandError(
    'CONFIG_INVALID',
    `models.${alias}: the provider of the model ${id} is unknown; give its provider, and a base_url unless it is anthropic or openai`,
  )
}

const variableOf = (provider: string, what: 'API_KEY' | 'BASE_URL'): string =>
  `${provider.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_')}_${what}`

const variable = (environment: Variables, name: string): string | null => environment[name] || null

const choiceOf = (environment: Variables): string => {
  const choice = variable(environment, 'TRIHAND_MODELS') ?? 'auto'
  if (CHOICES.includes(choice)) return choice
  throw new TrihandError('CONFIG_INVALID', `TRIHAND_MODELS is ${choice}; expected ${CHOICES.join(', ')}`)
}

const hasAnyKey = ({ aliases }: ModelBook, environment: Variables): boolean => {
  const named = [...aliases.values()].flatMap(({ provider }) => (provider === null ? [] : [provider]))
  const providers = new Set([...Object.keys(ADDRESSES), UNNAMED, ...named])
  return [...providers].some((provider) => variable(environment, variableOf(provider, 'API_KEY')) !== null)
}

const isFamous = (provider: string): boolean => Object.hasOwn(ADDRESSES, provider)

/** Why a model cannot be called with this configuration; null: it has an address, which may need no key. */
const lackOf = (alias: ModelAlias, { environment, resolve }: ModelsInput): string | null => {
  try {
    const provider = providerOf(alias)
    if (alias.baseUrl !== null) resolve(alias.baseUrl)
    if (alias.baseUrl !== null) return null
    const address = isFamous(provider) ? null : variable(environment, variableOf(provider, 'BASE_URL'))
    return address === null ? `${variableOf(provider, 'API_KEY')} is not set` : null
  } catch (error) {
    return error instanceof TrihandError ? error.detail : String(error)
  }
}

/** Models are simulated unless the choice is live or there is a key or an address; then all are live. */
const whySimulated = (input: ModelsInput): string | null => {
  const { book, environment } = input
  const choice = choiceOf(environment)
  const names = [...new Set([...book.aliases.keys(), book.fallback])]
  const who = `${names.slice(0, MOST_NAMES).join(', ')}${names.length > MOST_NAMES ? ', …' : ''}`
  if (choice === 'simulated') return `${who}: TRIHAND_MODELS is simulated`
  if (choice === 'live' || hasAnyKey(book, environment)) return null
  const lacks = names.map((name) => lackOf(aliasOf(book, name), input))
  return lacks.includes(null) ? null : `${who}: ${[...new Set(lacks)].join('; ')}`
}

const protocolOf = (provider: string): ModelSettings['protocol'] =>
  provider === 'anthropic' || provider === 'openai' ? provider : 'openai-compatible'

const addressOf = (alias: ModelAlias, provider: string, { environment, resolve }: ModelsInput): string => {
  const address =
    (alias.baseUrl === null ? null : resolve(alias.baseUrl)) ??
    variable(environment, variableOf(provider, 'BASE_URL')) ??
    ADDRESSES[provider]
  if (address !== undefined && URL.canParse(address)) return address
  throw new TrihandError(
    'CONFIG_INVALID',
    `models.${alias.alias}: ${address === undefined ? `${provider} needs a base_url` : `${address} is not a URL`}`,
  )
}

/** Private servers often need no key; the two known providers do, at their own addresses. */
const keyOf = (provider: string, alias: ModelAlias, environment: Variables): string | null => {
  const name = variableOf(provider, 'API_KEY')
  const key = variable(environment, name)
  if (key === null && isFamous(provider) && alias.baseUrl === null) {
    throw new TrihandError('ENV_MISSING', `${name} is not set, and models.${alias.alias} (${alias.id}) needs it`)
  }
  return key
}

const settingsOf = (alias: ModelAlias, input: ModelsInput): ModelSettings => {
  const provider = providerOf(alias)
  return {
    provider,
    protocol: protocolOf(provider),
    id: alias.id,
    apiKey: keyOf(provider, alias, input.environment),
    baseUrl: addressOf(alias, provider, input),
    api: alias.api ?? 'chat',
    structured: alias.structured ?? false,
  }
}

/** Loads the SDK once it is needed. */
const liveModel = (settings: (name: ModelName) => ModelSettings): Model => {
  let loading: Promise<Model> | null = null
  return {
    call: async (request, signal) => {
      loading ??= import('./ai-sdk.ts').then(({ aiSdkModel }) => aiSdkModel(settings))
      return (await loading).call(request, signal)
    },
  }
}

/** Throws if a key, an address or a provider is missing. Checks all names of the system, so that a start reports them. */
export const openModels = (input: ModelsInput): Models => {
  const { book, scripted } = input
  const simulated = whySimulated(input)
  const isSimulated = simulated !== null
  const nameOf = (name: string): ModelName => {
    const alias = aliasOf(book, name)
    return { alias: name, provider: isSimulated ? 'simulated' : providerOf(alias), id: alias.id }
  }
  if (isSimulated) return { simulated, model: scripted, nameOf }
  for (const alias of book.aliases.values()) settingsOf(alias, input)
  return { simulated, model: liveModel(({ alias }) => settingsOf(aliasOf(book, alias), input)), nameOf }
}
