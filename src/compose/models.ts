/**
 * The models of a system for executors that call one: names, answers, the check of an answer, prices.
 *
 * Owns that wiring. Contains no rules; models and prices are loaded by the first task that needs them.
 */
import { priceList } from '#adapters/models/ai-sdk/prices.ts'
import { type Models, openModels, type Variables } from '#adapters/models/ai-sdk/registry.ts'
import type { System } from '#manifest/define/system.ts'
import { resolveReferences } from '#manifest/expressions/reference.ts'
import { valueChecker } from '#manifest/schema/check-value.ts'
import type { ModelBook } from '#model/agent/agent.ts'
import type { PriceOf } from '#model/agent/usage.ts'
import type { Model } from '#ports/model.ts'
import type { ExecutorSettings } from './executors.ts'

/** Made once for each definition. */
export const perSystem = <T>(make: (system: System) => T): ((system: System) => T) => {
  const made = new WeakMap<System, { readonly value: T }>()
  return (system) => {
    const known = made.get(system) ?? { value: make(system) }
    made.set(system, known)
    return known.value
  }
}

/** The simulated model, loaded by the first call. */
const lazyScripted = (scripts: System['scripts']): Model => {
  let loading: Promise<Model> | null = null
  return {
    call: async (request, signal) => {
      loading ??= import('#adapters/models/ai-sdk/scripted.ts').then(({ ScriptedModel }) => new ScriptedModel(scripts))
      return (await loading).call(request, signal)
    },
  }
}

/** Real models by the keys and addresses of the environment and the system, else simulated ones. Throws if something is missing. */
export const modelsFor = ({ models: book }: Pick<System, 'models'>, environment: Variables, scripted: Model): Models =>
  openModels({
    book,
    environment,
    scripted,
    resolve: (text) => resolveReferences(text, environment),
  })

/** For inspection only: no model is called. */
const openBook = (book: ModelBook, environment: Variables): Models =>
  modelsFor({ models: book }, environment, lazyScripted(new Map()))

/** Which names are simulated, and why; null: none. Throws if something is missing. */
export const simulatedIn = (book: ModelBook, environment: Variables): string | null =>
  openBook(book, environment).simulated

/** The same for a system without agents: its functions may call the models that it names. `models`, where given, answer instead. */
export const simulatedFor = (
  { models: book }: Pick<System, 'models'>,
  { models, environment }: { readonly models?: unknown; readonly environment: Variables },
): string | null => (models !== undefined || book.aliases.size === 0 ? null : simulatedIn(book, environment))

/** Describes in words how each model of a system is reached. Throws if something is missing. */
export const describeModels = (book: ModelBook, environment: Variables): readonly string[] => {
  const { nameOf } = openBook(book, environment)
  return [...new Set([...book.aliases.keys(), book.fallback])].map((name) => {
    const { provider, id } = nameOf(name)
    return name === id ? `${name} of ${provider}` : `${name} (${id} of ${provider})`
  })
}

export interface ExecutorModels {
  readonly models: NonNullable<ExecutorSettings['models']>
  readonly price: PriceOf
}

const SIMULATED = 'simulated/'

/** `own` answers every call, in place of the models that the keys in the environment would open. */
export const executorModels = (
  system: () => System,
  environment: Variables,
  own: Pick<Models, 'model' | 'nameOf'> | undefined,
): ExecutorModels => {
  const opened = perSystem((definition) => own ?? modelsFor(definition, environment, lazyScripted(definition.scripts)))
  const prices = perSystem(({ models }) => priceList(models.prices))
  const models = () => opened(system())
  /** The provider of a model; a model without a provider has no price. A name declared for this very id comes first: it may be a local model. */
  const providerOf = (model: string): string => {
    const { aliases } = system().models
    const alias = aliases.has(model) ? model : [...aliases.values()].find(({ id }) => id === model)?.alias
    try {
      return models().nameOf(alias ?? model).provider
    } catch {
      return ''
    }
  }
  return {
    models: {
      model: { call: (request, signal) => models().model.call(request, signal) },
      nameOf: (name) => models().nameOf(name),
      check: valueChecker(),
    },
    price: (model, tokens) => {
      if (model.startsWith(SIMULATED)) return 0
      return prices(system())(providerOf(model), model, { ...tokens, reasoning: 0 })?.micros ?? null
    },
  }
}
