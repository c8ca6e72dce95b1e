/**
 * Combines lists of constraints on one task: the stricter value of each constraint applies.
 *
 * Owns the comparison. Pure; the author of a list does not matter.
 */
export interface Limits {
  readonly timeoutMs?: number
  readonly maxTokens?: number
  readonly temperature?: number
  readonly allowedModels?: readonly string[]
}

/** Limits of one task: `{ timeout: '20s', maxTokens: 2000 }`. */
export interface ConstraintsSource {
  /** How long it may take, a duration. Default: `30s`. */
  readonly timeout?: string | number
  /** Tokens of its answer. Default: the executor's. */
  readonly maxTokens?: number
  /** The temperature of its model. Default: the provider's. */
  readonly temperature?: number
  /** The models that may be asked, by name. Default: any. */
  readonly allowedModels?: readonly string[]
}

/** With the names of the executor contract. */
export interface WireConstraints {
  readonly timeout_ms?: number
  readonly max_tokens?: number
  readonly temperature?: number
  readonly allowed_models?: readonly string[]
}

const SPELLINGS: Readonly<Record<string, keyof ConstraintsSource>> = {
  timeout: 'timeout',
  timeout_ms: 'timeout',
  maxTokens: 'maxTokens',
  max_tokens: 'maxTokens',
  temperature: 'temperature',
  allowedModels: 'allowedModels',
  allowed_models: 'allowedModels',
}

/** Accepts constraints in either spelling; `refused` is a key that is unknown, or that repeats another one. */
export const spelledConstraints = (
  given: ConstraintsSource | WireConstraints,
): { readonly constraints: ConstraintsSource; readonly refused: string | null } => {
  const constraints: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(given)) {
    const name = Object.hasOwn(SPELLINGS, key) ? SPELLINGS[key] : undefined
    if (name === undefined || Object.hasOwn(constraints, name)) return { constraints: {}, refused: key }
    if (value !== undefined) constraints[name] = value
  }
  return { constraints, refused: null }
}

const least = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)

const common = (a: readonly string[] | undefined, b: readonly string[] | undefined): readonly string[] | undefined =>
  a === undefined || b === undefined ? (a ?? b) : a.filter((model) => b.includes(model))

const present = <Name extends string, T>(name: Name, value: T | undefined): { readonly [key in Name]?: T } =>
  value === undefined ? {} : ({ [name]: value } as { readonly [key in Name]?: T })

export const stricter = (a: Limits, b: Limits): Limits => ({
  ...present('timeoutMs', least(a.timeoutMs, b.timeoutMs)),
  ...present('maxTokens', least(a.maxTokens, b.maxTokens)),
  ...present('temperature', least(a.temperature, b.temperature)),
  ...present('allowedModels', common(a.allowedModels, b.allowedModels)),
})
