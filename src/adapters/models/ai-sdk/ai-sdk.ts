/**
 * The Model port over the AI SDK: Anthropic, OpenAI, and OpenAI-compatible servers.
 *
 * The only file that imports `ai` or `@ai-sdk/*`: its types end here. One call is one step of the SDK: tools have no code, nothing is
 * retried, nothing is read from the environment. The caller owns retries, budgets and the validation of the answer.
 */
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import {
  generateText,
  type JSONSchema7,
  jsonSchema,
  type LanguageModel,
  type LanguageModelUsage,
  type ModelMessage,
  Output,
  type StepResult,
  streamText,
  type ToolSet,
} from 'ai'
import { type ErrorCode, TrihandError } from '#model/kernel/errors.ts'
import { type Json, toJson } from '#model/kernel/json.ts'
import type {
  Chunk,
  Finish,
  Message,
  Model,
  ModelCall,
  ModelFailure,
  ModelName,
  ModelReply,
  ModelRequest,
  ModelUsage,
  Part,
} from '#ports/model.ts'
import { answerFetch } from './answer-fetch.ts'
import { plainMeta } from './plain-meta.ts'
import { failed } from './provider-failure.ts'
import { failureOf } from './sdk-failure.ts'
import type { ModelSettings } from './settings.ts'
import { isStrictSchema } from './strict-schema.ts'
import { type WireIds, wireIds } from './wire-ids.ts'

type Step = StepResult<ToolSet>
/** No model's answer is this long. */
const MAX_TEXT = 4_000_000
type ProviderOptions = NonNullable<ModelMessage['providerOptions']>

// Otherwise the SDK prints warnings; the reply has them.
globalThis.AI_SDK_LOG_WARNINGS = false

export const aiSdkModel = (settingsOf: (name: ModelName) => ModelSettings): Model => ({
  call: async (request, signal) => {
    if (signal.aborted) return abandoned(signal, '')
    const heard: Heard = { text: '', error: null }
    try {
      const settings = settingsOf(request.model)
      return await orAbort(ask(request, settings, signal, heard), signal, heard)
    } catch (error) {
      return failureOf(error, heard.text)
    }
  },
})

/** What a stream has delivered so far: the evidence if it breaks. */
interface Heard {
  text: string
  error: { readonly cause: unknown } | null
}

/** Does not wait for a provider that ignores the signal (model-2); whatever it sends later is dropped. */
const orAbort = (reply: Promise<ModelReply>, signal: AbortSignal, heard: Heard): Promise<ModelReply> =>
  new Promise((resolve, reject) => {
    const abandon = (): void => resolve(abandoned(signal, heard.text))
    signal.addEventListener('abort', abandon, { once: true })
    reply.then(
      (value) => resolve(signal.aborted ? abandoned(signal, heard.text) : value),
      (error: unknown) => (signal.aborted ? abandon() : reject(error)),
    )
    reply.finally(() => signal.removeEventListener('abort', abandon)).catch(() => {})
  })

const isTimeout = (reason: unknown): boolean =>
  reason instanceof Error && (reason.name === 'TimeoutError' || ('code' in reason && /TIMEOUT$/.test(`${reason.code}`)))

const abandoned = (signal: AbortSignal, text: string): ModelFailure => {
  const code: ErrorCode = isTimeout(signal.reason) ? 'MODEL_TIMEOUT' : 'STEP_ABORTED'
  return failed(code, 'the call was cancelled before the answer was complete', { text: text === '' ? null : text })
}

const ask = async (
  request: ModelRequest,
  settings: ModelSettings,
  signal: AbortSignal,
  heard: Heard,
): Promise<ModelReply> => {
  const options = callOptions(request, settings, signal)
  const step =
    request.onChunk === undefined
      ? (await generateText(options)).steps[0]
      : await streamed(options, request.onChunk, signal, heard)
  return step === undefined ? failureOf(heard.error?.cause, heard.text) : replyOf(step, request, settings)
}

/** Undefined: the stream broke; `heard` has the reason. */
const streamed = async (
  options: ReturnType<typeof callOptions>,
  tell: (delta: Chunk) => void,
  signal: AbortSignal,
  heard: Heard,
): Promise<Step | undefined> => {
  const result = streamText({ ...options, onError: () => {} })
  for await (const part of result.fullStream) {
    if (signal.aborted) return undefined
    if (part.type === 'error') heard.error ??= { cause: part.error }
    if (part.type === 'text-delta') heard.text += part.text
    if (heard.text.length > MAX_TEXT)
      throw new TrihandError('MODEL_BAD_RESPONSE', `the answer has more than ${MAX_TEXT} characters and was cut off`)
    const delta = deltaOf(part)
    if (delta !== null) tell(delta)
  }
  return heard.error === null ? (await result.steps)[0] : undefined
}

const deltaOf = (
  part: { readonly type: string } & Partial<Record<'text' | 'id' | 'toolName', string>>,
): Chunk | null => {
  switch (part.type) {
    case 'text-delta':
      return { type: 'text', text: part.text ?? '' }
    case 'reasoning-delta':
      return { type: 'reasoning', text: part.text ?? '' }
    case 'tool-input-start':
      return { type: 'call', id: part.id ?? '', tool: part.toolName ?? '' }
    default:
      return null
  }
}

const callOptions = (request: ModelRequest, settings: ModelSettings, abortSignal: AbortSignal) => ({
  model: providerModel(settings),
  system: systemText(request, settings),
  messages: messagesOf(request.messages, settings.provider),
  tools: toolSet(request),
  maxOutputTokens: request.maxOutputTokens,
  maxRetries: 0,
  abortSignal,
  ...(request.temperature === null ? {} : { temperature: request.temperature }),
  ...(request.output === null ? {} : outputOptions(request.output)),
})

/** Always an object: the SDK would send a name given as text to a hosted gateway. */
const providerModel = ({ protocol, provider, id, baseUrl, apiKey, api, structured }: ModelSettings): LanguageModel => {
  switch (protocol) {
    case 'anthropic':
      return createAnthropic({ apiKey: apiKey ?? '', baseURL: baseUrl, fetch: answerFetch })(id)
    case 'openai': {
      const openai = createOpenAI({ apiKey: apiKey ?? '', baseURL: baseUrl, fetch: answerFetch })
      return api === 'responses' ? openai.responses(id) : openai.chat(id)
    }
    case 'openai-compatible':
      return createOpenAICompatible({
        name: provider,
        baseURL: baseUrl,
        includeUsage: true,
        fetch: answerFetch,
        supportsStructuredOutputs: structured,
        ...(apiKey === null ? {} : { apiKey }),
      })(id)
  }
}

/** A server that takes no schema gets it as text in the system prompt. */
const systemText = ({ system, output }: ModelRequest, { protocol, structured }: ModelSettings): string =>
  output === null || protocol !== 'openai-compatible' || structured
    ? system
    : `${system}\n\nAnswer with JSON alone that fits this JSON Schema:\n${JSON.stringify(output)}`

/** The answer format for the provider. The SDK's own parser throws when the text does not fit; we parse the text ourselves. */
const outputOptions = (schema: Json) => ({
  output: { ...Output.object({ schema: schemaOf(schema) }), parseCompleteOutput: async () => null },
  providerOptions: { openai: { strictJsonSchema: isStrictSchema(schema) } },
})

const schemaOf = (schema: Json) => jsonSchema<unknown>(schema as JSONSchema7)

/** Without a prototype: a call of `constructor` must not find one. Without code: the engine performs calls (model-3). */
const toolSet = ({ tools }: ModelRequest): ToolSet => {
  const set: ToolSet = Object.create(null)
  for (const { name, description, input } of [...tools].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    set[name] = { description, inputSchema: schemaOf(input) }
  }
  return set
}

const messagesOf = (messages: readonly Message[], provider: string): ModelMessage[] => {
  const ids = wireIds()
  return messages.map((message): ModelMessage => {
    const parts = message.parts.flatMap((part) => wirePart(part, provider, ids))
    // Each of our parts becomes the SDK's part at the same position; a mixture that no provider takes is the caller's bug.
    return { role: message.role, content: parts } as ModelMessage
  })
}

const withMeta = (meta: Json | undefined): { readonly providerOptions?: ProviderOptions } =>
  meta === undefined ? {} : { providerOptions: meta as ProviderOptions }

const wirePart = (part: Part, provider: string, ids: WireIds): readonly object[] => {
  switch (part.type) {
    case 'text':
      // Providers refuse empty text.
      return part.text === '' ? [] : [{ type: 'text', text: part.text, ...withMeta(part.meta) }]
    case 'reasoning':
      // The SDK would send another provider's reasoning as plain text, without its signature.
      return part.provider === provider ? [{ type: 'reasoning', text: part.text, ...withMeta(part.meta) }] : []
    case 'call': {
      const { tool: toolName, input, meta } = part
      return [{ type: 'tool-call', toolCallId: ids.ofCall(part.id), toolName, input, ...withMeta(meta) }]
    }
    case 'result':
      return [
        { type: 'tool-result', toolCallId: ids.ofResult(part.id), toolName: part.tool, output: resultOutput(part) },
      ]
    case 'file':
      return [{ type: 'file', data: part.base64, mediaType: part.mediaType, ...withMeta(part.meta) }]
  }
}

const resultOutput = ({ output, isError }: Extract<Part, { type: 'result' }>): object =>
  typeof output === 'string'
    ? { type: isError ? 'error-text' : 'text', value: output }
    : { type: isError ? 'error-json' : 'json', value: output }

const replyOf = (step: Step, request: ModelRequest, { provider }: ModelSettings): ModelReply => {
  const parts = step.content.flatMap((content) => ourPart(content, provider))
  const calls = parts
    .filter((part) => part.type === 'call')
    .map(({ id, tool, input }): ModelCall => ({ id, tool, input }))
  const usage = usageOf(step.usage)
  const evidence = { usage, text: step.text === '' ? null : step.text }
  if (new Set(calls.map((call) => call.id)).size < calls.length) {
    return failed('MODEL_BAD_RESPONSE', 'two calls of one answer have the same id', evidence)
  }
  const finish = finishOf(step.finishReason, calls.length > 0)
  if (finish === null) {
    const { rawFinishReason: reason } = step
    return reason === undefined
      ? failed('MODEL_UNAVAILABLE', 'the answer ended early: the provider did not mark it as complete', evidence)
      : failed('MODEL_BAD_RESPONSE', `the answer ended for an unknown reason: ${reason}`, evidence)
  }
  if (finish === 'stop' && step.text.trim() === '' && !parts.some(({ type }) => type === 'file')) {
    return failed('MODEL_BAD_RESPONSE', 'the answer is empty: it has no text and no tool call', evidence)
  }
  return {
    kind: 'reply',
    parts,
    calls,
    finish,
    usage,
    modelUsed: step.response.modelId || request.model.id,
    // The SDK invents an id where the provider gave none.
    responseId: step.response.id.startsWith('aitxt-') ? null : step.response.id,
    warnings: (step.warnings ?? []).map(warningText),
    simulated: false,
  }
}

/** Null: the answer did not end properly. Some servers report `stop` after a call. */
const finishOf = (reason: Step['finishReason'], hasCalls: boolean): Finish | null => {
  switch (reason) {
    case 'stop':
    case 'tool-calls':
      return hasCalls ? 'tools' : 'stop'
    case 'length':
      return 'length'
    case 'content-filter':
      return 'filtered'
    case 'error':
    case 'other':
      return null
  }
}

type Warning = NonNullable<Step['warnings']>[number]

const warningText = (warning: Warning): string =>
  'message' in warning ? warning.message : `${warning.feature}: ${warning.details ?? warning.type}`

const ourPart = (content: Step['content'][number], provider: string): readonly Part[] => {
  const meta: ReturnType<typeof plainMeta> = 'providerMetadata' in content ? plainMeta(content.providerMetadata) : {}
  switch (content.type) {
    case 'text':
      // Every stream begins with an empty text.
      return content.text === '' && meta.meta === undefined ? [] : [{ type: 'text', text: content.text, ...meta }]
    case 'reasoning':
      return [{ type: 'reasoning', text: content.text, provider, ...meta }]
    case 'tool-call':
      return [{ type: 'call', id: content.toolCallId, tool: content.toolName, input: inputOf(content.input), ...meta }]
    case 'file':
      return [{ type: 'file', mediaType: content.file.mediaType, base64: content.file.base64, ...meta }]
    // The SDK adds its own answer to an unknown tool or a bad input; the broker answers those, once.
    case 'tool-error':
    case 'tool-result':
    case 'tool-approval-request':
    case 'source':
      return []
  }
}

/** An input that is not plain JSON stays text: the broker refuses it with a reason. */
const inputOf = (input: unknown): Json => {
  try {
    return toJson(input)
  } catch {
    return typeof input === 'string' ? input : JSON.stringify(input)
  }
}

const usageOf = ({
  inputTokens,
  outputTokens,
  inputTokenDetails,
  outputTokenDetails,
  raw,
}: LanguageModelUsage): ModelUsage | null => {
  if (inputTokens === undefined && outputTokens === undefined) return null
  const usage = {
    input: inputTokens ?? 0,
    output: outputTokens ?? 0,
    cachedInput: inputTokenDetails.cacheReadTokens ?? 0,
    cacheWrites: inputTokenDetails.cacheWriteTokens ?? 0,
    reasoning: outputTokenDetails.reasoningTokens ?? 0,
  }
  // Gateways to many providers report the cost of a call, in dollars.
  return typeof raw?.['cost'] === 'number' ? { ...usage, costUsd: raw['cost'] } : usage
}
