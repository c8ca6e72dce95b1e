/**
 * A stub of OpenAI's chat completions (and, if requested, its responses) on 127.0.0.1: real HTTP, scripted answers, faults on demand.
 *
 * Owns the shapes of that API, which other providers have copied. For tests that call a provider without having one.
 */
import type { Json } from '#model/kernel/json.ts'
import {
  callId,
  chunksOf,
  inputText,
  type ModelStub,
  roughTokens,
  type StubAnswer,
  type StubBlock,
  type StubBody,
  type StubDialect,
  type StubFault,
  type StubOptions,
  startModelStub,
} from './model-stub.ts'
import { answerResponses } from './openai-responses.ts'

export interface OpenAIStubOptions extends StubOptions {
  /** Also serves `/v1/responses`; otherwise it is 404, as on servers that copied only the older API. */
  readonly responses?: boolean
}

type Members = { readonly [key: string]: Json }

const usageOf = (body: StubBody, blocks: readonly StubBlock[], fault: StubFault | null): Members => {
  const wrong = fault?.kind === 'wrong-usage' ? fault : null
  const input = wrong?.input ?? roughTokens(JSON.stringify(body))
  const output = wrong?.output ?? Math.max(1, roughTokens(JSON.stringify(blocks)))
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: wrong?.cached ?? 0 },
  }
}

const finishReason = (blocks: readonly StubBlock[], fault: StubFault | null): string => {
  if (fault?.kind === 'finish') return fault.finish === 'length' ? 'length' : 'content_filter'
  return blocks.some((block) => block.type === 'call') ? 'tool_calls' : 'stop'
}

const textOf = (blocks: readonly StubBlock[], type: 'text' | 'thinking'): string =>
  blocks.map((block) => (block.type === type ? block.text : '')).join('')

const callsOf = (blocks: readonly StubBlock[], n: number, fault: StubFault | null): readonly Members[] =>
  blocks
    .filter((block) => block.type === 'call')
    .map((block, i) => ({
      id: callId(block, n, i, fault),
      type: 'function',
      function: { name: block.name, arguments: inputText(block.input) },
    }))

const data = (value: Json): string => `data: ${JSON.stringify(value)}\n\n`

/** A call in a stream: its name first, then its arguments in pieces, joined by `index`. */
const callDeltas = (call: Members, index: number): readonly Members[] => {
  const { name, arguments: text } = call['function'] as { readonly name: string; readonly arguments: string }
  return [
    { tool_calls: [{ index, id: call['id'] ?? '', type: 'function', function: { name, arguments: '' } }] },
    ...chunksOf(text).map((piece) => ({ tool_calls: [{ index, function: { arguments: piece } }] })),
  ]
}

const answerChat: StubDialect['answer'] = (body, blocks, n, fault): StubAnswer => {
  const calls = callsOf(blocks, n, fault)
  const text = textOf(blocks, 'text')
  const reasoning = textOf(blocks, 'thinking')
  const usage = usageOf(body, blocks, fault)
  const told: Members = fault?.kind === 'no-usage' ? {} : { usage }
  const head: Members = {
    id: `chatcmpl-${n}`,
    created: 1_700_000_000,
    model: fault?.kind === 'other-model' ? fault.model : (body['model'] ?? null),
  }
  const finish = finishReason(blocks, fault)
  const chunk = (delta: Members, finish_reason: string | null): string =>
    data({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })
  const deltas: readonly Members[] = [
    { role: 'assistant', content: '' },
    ...chunksOf(reasoning).map((piece) => ({ reasoning_content: piece })),
    ...chunksOf(text).map((piece) => ({ content: piece })),
    ...calls.flatMap(callDeltas),
  ]
  const wantsUsage = (body['stream_options'] as Members | undefined)?.['include_usage'] === true
  const message: Members = {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  }
  return {
    whole: JSON.stringify({
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: finish }],
      ...told,
    }),
    events: [
      ...deltas.map((delta) => chunk(delta, null)),
      chunk({}, finish),
      ...(wantsUsage && fault?.kind !== 'no-usage' ? [data({ ...head, choices: [], usage })] : []),
      'data: [DONE]\n\n',
    ],
  }
}

const ERROR_TYPES: Readonly<Record<number, string>> = { 401: 'authentication_error', 429: 'rate_limit_error' }

const isResponses = (body: StubBody): boolean => 'input' in body

/**
 * Starts a server on this machine that answers as OpenAI's API does: `const stub = await startOpenAIStub({ script: () => [{ type: 'text', text: 'Hi'
 * }] })`.
 */
export const startOpenAIStub = ({ responses = false, ...options }: OpenAIStubOptions): Promise<ModelStub> =>
  startModelStub(
    {
      answer: (body, blocks, n, fault) => (isResponses(body) ? answerResponses : answerChat)(body, blocks, n, fault),
      error: (status, message, type) => ({
        error: { message, type: ERROR_TYPES[status] ?? 'invalid_request_error', param: null, code: type ?? null },
      }),
      isPaid: (path) => path === '/v1/chat/completions' || (responses && path === '/v1/responses'),
      other: () => null,
    },
    options,
  )
