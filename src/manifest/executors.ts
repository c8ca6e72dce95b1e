/**
 * The executor types of a system: names and who stands behind them.
 *
 * Owns that each type has one executor, the built-in types included. Never knows how one performs.
 */
import { TrihandError } from '../model/errors.ts'
import { invalidAt } from './ranges.ts'

export interface ExecutorSource {
  readonly type: string
  readonly performer: unknown
}

const TYPE = /^[a-z][a-z0-9_-]{0,63}$/
const BUILT_IN: ReadonlySet<string> = new Set([
  'inline',
  'llm',
  'template_engine',
  'document_processor',
  'classifier',
  'tool_call',
])

export const defineExecutors = (sources: readonly ExecutorSource[]): ReadonlyMap<string, unknown> => {
  const executors = new Map<string, unknown>()
  for (const { type, performer } of sources) {
    if (!TYPE.test(type)) throw invalidAt(`executors.${type}`, 'a type has at most 64 of a-z 0-9 _ -')
    if (executors.has(type) || BUILT_IN.has(type))
      throw new TrihandError('EXECUTOR_DUPLICATE', `the type ${type} has an executor already`)
    executors.set(type, performer)
  }
  return executors
}
