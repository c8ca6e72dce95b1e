/**
 * How one model is reached: which protocol, where, with which key. Nothing is read from the environment behind our back.
 *
 * Owns the shape that registry.ts fills and ai-sdk.ts follows.
 */
export interface ModelSettings {
  /** The provider's name as parts and prices carry it. */
  readonly provider: string
  readonly protocol: 'anthropic' | 'openai' | 'openai-compatible'
  readonly id: string
  readonly baseUrl: string
  readonly apiKey: string | null
  /** OpenAI's older API, or its newer one. */
  readonly api: 'chat' | 'responses'
  /** Whether an `openai-compatible` server takes a schema for the answer. */
  readonly structured: boolean
}
