/**
 * The models of a system for executors that call one: names, answers, the check of an answer, prices.
 *
 * Owns that wiring. Holds no rule; models and prices are loaded by the first task that needs them.
 */
import { priceList } from './adapters/models/prices.ts'
import { type Models, openModels, type Variables } from './adapters/models/registry.ts'
import type { HandSettings } from './hands.ts'
import { valueChecker } from './manifest/check-value.ts'
import { resolveReferences } from './manifest/reference.ts'
import type { System } from './manifest/system.ts'
import type { PriceOf } from './model/usage.ts'
import type { Model } from './ports/model.ts'

/** Made once for each definition. */
export const perSystem = <T>(make: (system: System) => T): ((system: System) => T) => {
  const made = new WeakMap<System, { readonly value: T }>()
  return (system) => {
    const known = made.get(system) ?? { value: make(system) }
    made.set(system, known)
    return known.value
  }
}

/** The simulated model, loaded with the first question. */
const lazyScripted = (scripts: System['scripts']): Model => {
  let loading: Promise<Model> | null = null
  return {
    call: async (request, signal) => {
      loading ??= import('./adapters/models/scripted.ts').then(({ ScriptedModel }) => new ScriptedModel(scripts))
      return (await loading).call(request, signal)
    },
  }
}

/** Live by the keys of the environment, else simulated. Throws what is missing. */
export const modelsFor = ({ models: book }: System, environment: Variables, scripted: Model): Models =>
  openModels({
    book,
    environment,
    scripted,
    resolve: (text) => resolveReferences(text, environment),
  })

export interface ExecutorModels {
  readonly models: NonNullable<HandSettings['models']>
  readonly price: PriceOf
}

const SIMULATED = 'simulated/'

/** `own` answers every call, instead of what the environment's keys would open. */
export const executorModels = (
  system: () => System,
  environment: Variables,
  own: Pick<Models, 'model' | 'nameOf'> | undefined,
): ExecutorModels => {
  const opened = perSystem((definition) => own ?? modelsFor(definition, environment, lazyScripted(definition.scripts)))
  const prices = perSystem(({ models }) => priceList(models.prices))
  const models = () => opened(system())
  /** Whose a model is; nobody's has no price. */
  const providerOf = (model: string): string => {
    try {
      return models().nameOf(model).provider
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
    price: (model, { input, output }) => {
      if (model.startsWith(SIMULATED)) return 0
      const usage = { input, output, cachedInput: 0, cacheWrites: 0, reasoning: 0 }
      return prices(system())(providerOf(model), model, usage)?.micros ?? null
    },
  }
}
