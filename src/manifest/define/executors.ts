/**
 * The executor types of a system: their names and implementations.
 *
 * Owns that each type has one executor, the built-in types included. Does not know how an executor works.
 */
import { invalidAt } from '#manifest/expressions/ranges.ts'
import { TrihandError } from '#model/kernel/errors.ts'

/** In this process, or remote over signed HTTP. */
export type ExecutorSource =
  | { readonly type: string; readonly performer: unknown }
  | ({ readonly type: string } & RemoteDefinition)

export interface RemoteDefinition {
  readonly url: string
  /** Base64, or a reference like `${FAX_SECRET}`. */
  readonly secret: string
}

export type ExecutorDefinition =
  | { readonly kind: 'here'; readonly performer: unknown }
  | ({ readonly kind: 'remote' } & RemoteDefinition)

const TYPE = /^[a-z][a-z0-9_-]{0,63}$/
export const BUILT_IN: ReadonlySet<string> = new Set([
  'inline',
  'llm',
  'template_engine',
  'document_processor',
  'classifier',
  'tool_call',
])

const definitionOf = (source: ExecutorSource): ExecutorDefinition => {
  if ('performer' in source) return { kind: 'here', performer: source.performer }
  const { type, url, secret } = source
  if (!/^https?:\/\/\S+$/.test(url)) throw invalidAt(`executors.${type}.url`, 'expected an http or https address')
  if (secret === '') throw invalidAt(`executors.${type}.secret`, 'a remote executor needs a secret')
  return { kind: 'remote', url, secret }
}

export const defineExecutors = (sources: readonly ExecutorSource[]): ReadonlyMap<string, ExecutorDefinition> => {
  const executors = new Map<string, ExecutorDefinition>()
  for (const source of sources) {
    const { type } = source
    if (!TYPE.test(type)) throw invalidAt(`executors.${type}`, 'a type must have at most 64 of a-z 0-9 _ -')
    if (executors.has(type) || BUILT_IN.has(type))
      throw new TrihandError('EXECUTOR_DUPLICATE', `the type ${type} already has an executor`)
    executors.set(type, definitionOf(source))
  }
  return executors
}
