/**
 * Brings constraints on the tasks of a function from what an author writes to the normal form.
 *
 * Owns their ranges. Which of several constraints applies is model/flow/policies/constraints.ts.
 */
import { invalidAt, wholeNumber } from '#manifest/expressions/ranges.ts'
import { durationMs } from '#manifest/time/duration.ts'
import {
  type ConstraintsSource,
  type Limits,
  spelledConstraints,
  type WireConstraints,
} from '#model/flow/policies/constraints.ts'

const TOKENS = { min: 1, max: 10_000_000 }
const MAX_TEMPERATURE = 2

const temperatureAt = (path: string, given: number): number => {
  if (!(given >= 0 && given <= MAX_TEMPERATURE)) throw invalidAt(path, `${given} is not from 0 to ${MAX_TEMPERATURE}`)
  return given
}

export const defineConstraints = (path: string, source: ConstraintsSource | WireConstraints = {}): Limits => {
  const { constraints, refused } = spelledConstraints(source)
  if (refused !== null) throw invalidAt(`${path}.${refused}`, 'is not a constraint, or is given twice')
  const { timeout, maxTokens, temperature, allowedModels } = constraints
  return {
    ...(timeout === undefined ? {} : { timeoutMs: durationMs(timeout) }),
    ...(maxTokens === undefined ? {} : { maxTokens: wholeNumber(`${path}.maxTokens`, maxTokens, TOKENS) }),
    ...(temperature === undefined ? {} : { temperature: temperatureAt(`${path}.temperature`, temperature) }),
    ...(allowedModels === undefined ? {} : { allowedModels }),
  }
}
