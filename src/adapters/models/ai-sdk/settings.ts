/**
 * Settings to reach one model: protocol, address, key. The SDK must not read anything from the environment instead.
 *
 * Owns the shape that registry.ts fills and ai-sdk.ts uses.
 */
export interface ModelSettings {
  /** The provider's name as it appears in parts and prices. */
  readonly provider: string
  readonly protocol: 'anthropic' | 'openai' | 'openai-compatible'
  readonly id: string
  readonly baseUrl: string
  readonly apiKey: string | null
  /** OpenAI's older API (chat completions), or its newer one. */
  readonly api: 'chat' | 'responses'
  /** Whether an `openai-compatible` server takes a schema for the answer. */
  readonly structured: boolean
}
