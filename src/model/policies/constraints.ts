/**
 * Several lists of constraints on one task, and the one that holds: of each the stricter.
 *
 * Owns the comparison. Pure; who wrote which list does not matter.
 */
export interface Limits {
  readonly timeoutMs?: number
  readonly maxTokens?: number
  readonly temperature?: number
  readonly allowedModels?: readonly string[]
}

/** As an author writes them. */
export interface ConstraintsSource {
  /** 30 s for a task, unless told otherwise. */
  readonly timeout?: string | number
  readonly maxTokens?: number
  readonly temperature?: number
  readonly allowedModels?: readonly string[]
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
