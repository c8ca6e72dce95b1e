/**
 * One call to a language model: a request in, a reply out. Choosing providers, retrying and counting costs happen elsewhere.
 *
 * model-1  Never throws, never retries, never loops; failure is a reply with a code.
 * model-2  Answers soon after its signal aborts; a later answer of the provider is dropped.
 * model-3  Tools have no code here: the reply names calls, the engine performs them.
 */
import type { Finish, Message, ModelCall, ModelUsage, Part } from '#model/chat/conversation.ts'
import type { ErrorCode } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'

export type { Finish, Message, ModelCall, ModelUsage, Part } from '#model/chat/conversation.ts'

export interface Model {
  call(request: ModelRequest, signal: AbortSignal): Promise<ModelReply>
}

/** The name of a model in the manifest (`alias`) and at its provider. */
export interface ModelName {
  readonly alias: string
  readonly provider: string
  readonly id: string
}

export interface ModelRequest {
  /** Names the caller, for people and for scripts: `agent:composer`, `planner`, `chat`. */
  readonly purpose: string
  readonly model: ModelName
  readonly system: string
  readonly messages: readonly Message[]
  /** Sorted by name, so that provider caches hit. */
  readonly tools: readonly ToolSpec[]
  /** JSON Schema of the answer; null for text. */
  readonly output: Json | null
  readonly maxOutputTokens: number
  readonly temperature: number | null
  readonly attempt: number
  /** If set, the answer is streamed; the deltas are provisional. */
  readonly onChunk?: (delta: Chunk) => void
}

export interface ToolSpec {
  /** As it goes over the wire: `[A-Za-z0-9_-]{1,64}`. */
  readonly name: string
  readonly description: string
  readonly input: Json
}

export type ModelReply = ModelAnswer | ModelFailure

export interface ModelAnswer {
  readonly kind: 'reply'
  readonly parts: readonly Part[]
  readonly calls: readonly ModelCall[]
  readonly finish: Finish
  /** Null: the provider did not say. */
  readonly usage: ModelUsage | null
  readonly modelUsed: string
  readonly responseId: string | null
  readonly warnings: readonly string[]
  readonly simulated: boolean
}

export interface ModelFailure {
  readonly kind: 'failed'
  readonly code: ErrorCode
  readonly detail: string
  readonly retryAfterMs: number | null
  readonly usage: ModelUsage | null
  /** The text that had arrived before the call broke, as evidence. */
  readonly text: string | null
  /** The provider refused before the model began: nothing is billed. */
  readonly isUnbilled?: true
}

export type Chunk =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'reasoning'; readonly text: string }
  | { readonly type: 'call'; readonly id: string; readonly tool: string }
