/**
 * What we exchange with a language model: messages and their parts, in our own format.
 *
 * Owns the shapes. Adapters of providers translate; facts store these as they are.
 */
import type { Json } from '#model/kernel/json.ts'

export interface Message {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly parts: readonly Part[]
}

/** `meta` is the provider's own data on the part, verbatim, under the provider's name: signatures survive the ledger with it. */
export type Part =
  | { readonly type: 'text'; readonly text: string; readonly meta?: Json }
  | { readonly type: 'reasoning'; readonly text: string; readonly provider: string; readonly meta?: Json }
  | { readonly type: 'call'; readonly id: string; readonly tool: string; readonly input: Json; readonly meta?: Json }
  | {
      readonly type: 'result'
      readonly id: string
      readonly tool: string
      readonly output: Json
      readonly isError: boolean
    }
  | { readonly type: 'file'; readonly mediaType: string; readonly base64: string; readonly meta?: Json }

/** A tool call as the model wrote it. The input is unchanged, whether it fits a schema or not. */
export interface ModelCall {
  readonly id: string
  readonly tool: string
  readonly input: Json
}

export type Finish = 'stop' | 'tools' | 'length' | 'filtered'

/** `input` includes tokens read from a cache. */
export interface ModelUsage {
  readonly input: number
  readonly output: number
  readonly cachedInput: number
  readonly cacheWrites: number
  readonly reasoning: number
  /** Dollars, where the provider itself reports them. */
  readonly costUsd?: number
}

export const textOf = (parts: readonly Part[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
