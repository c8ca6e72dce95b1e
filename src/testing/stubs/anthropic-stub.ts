/**
 * A stub of Anthropic's Messages API on 127.0.0.1, as a client sees it: real HTTP, scripted answers, faults on demand.
 *
 * Owns the shapes of that API. For tests that call a provider without having one.
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

type Content = { readonly [key: string]: Json }

/** Old models answer in JSON through a tool of this name, which the client adds and requires. */
const JSON_TOOL = 'json'

const asksForJsonTool = (body: StubBody): boolean => {
  const tools = body['tools']
  return (
    body['output_config'] === undefined &&
    Array.isArray(tools) &&
    tools.some((tool: Json) => (tool as Content)['name'] === JSON_TOOL)
  )
}

/** The text is JSON, and the client wants it as the input of its tool. */
const inJsonTool = (block: StubBlock): StubBlock => {
  if (block.type !== 'text') return block
  return { type: 'call', name: JSON_TOOL, input: block.text }
}

const contentOf = (block: StubBlock, n: number, i: number, fault: StubFault | null): Content => {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'thinking':
      return { type: 'thinking', thinking: block.text, signature: block.signature }
    case 'call':
      return { type: 'tool_use', id: callId(block, n, i, fault), name: block.name, input: block.input }
  }
}

const usageOf = (body: StubBody, blocks: readonly StubBlock[], fault: StubFault | null): Content => {
  if (fault?.kind === 'wrong-usage') {
    return { input_tokens: fault.input, output_tokens: fault.output, cache_read_input_tokens: fault.cached ?? 0 }
  }
  return {
    input_tokens: roughTokens(JSON.stringify(body)),
    output_tokens: Math.max(1, roughTokens(JSON.stringify(blocks))),
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  }
}

const stopReason = (blocks: readonly StubBlock[], fault: StubFault | null): string => {
  if (fault?.kind === 'finish') return fault.finish === 'length' ? 'max_tokens' : 'refusal'
  return blocks.some((block) => block.type === 'call') ? 'tool_use' : 'end_turn'
}

const event = (type: string, data: Content): string => `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`

/** The first event of a block, and its deltas. */
const streamed = (block: StubBlock, content: Content): readonly [Content, readonly Content[]] => {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: '' }, chunksOf(block.text).map((text) => ({ type: 'text_delta', text }))]
    case 'thinking':
      return [
        { type: 'thinking', thinking: '', signature: '' },
        [
          ...chunksOf(block.text).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: block.signature },
        ],
      ]
    case 'call':
      return [
        { ...content, input: {} },
        chunksOf(inputText(block.input)).map((piece) => ({ type: 'input_json_delta', partial_json: piece })),
      ]
  }
}

const eventsOf = (block: StubBlock, content: Content, index: number): readonly string[] => {
  const [begin, deltas] = streamed(block, content)
  return [
    event('content_block_start', { index, content_block: begin }),
    ...deltas.map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ]
}

const answer: StubDialect['answer'] = (body, given, n, fault): StubAnswer => {
  const blocks = asksForJsonTool(body) ? given.map(inJsonTool) : given
  const contents = blocks.map((block, i) => contentOf(block, n, i, fault))
  const usage = usageOf(body, blocks, fault)
  const told: Content = fault?.kind === 'no-usage' ? {} : { usage }
  const message: Content = {
    id: `msg_${n}`,
    type: 'message',
    role: 'assistant',
    model: fault?.kind === 'other-model' ? fault.model : (body['model'] ?? null),
  }
  const end: Content = { stop_reason: stopReason(blocks, fault), stop_sequence: null }
  return {
    whole: JSON.stringify({ ...message, content: contents.map(parseInput), ...end, ...told }),
    events: [
      event('message_start', { message: { ...message, content: [], stop_reason: null, stop_sequence: null, ...told } }),
      ...blocks.flatMap((block, i) => eventsOf(block, contents[i] ?? {}, i)),
      event('message_delta', { delta: end, ...told }),
      event('message_stop', {}),
    ],
  }
}

/** In a whole answer the input is a value: text that is JSON is parsed, any other text stays text. */
const parseInput = (content: Content): Content => {
  const { input } = content
  if (typeof input !== 'string') return content
  try {
    return { ...content, input: JSON.parse(input) }
  } catch {
    return content
  }
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

/**
 * Starts a server on this machine that answers as Anthropic's API does: `const stub = await startAnthropicStub({ script: () => [{ type: 'text', text:
 * 'Hi' }] })`.
 */
export const startAnthropicStub = (options: StubOptions): Promise<ModelStub> =>
  startModelStub(
    {
      answer,
      error: (status, message, type) => ({
        type: 'error',
        error: { type: type ?? ERROR_TYPES[status] ?? 'api_error', message },
      }),
      isPaid: (path) => path === '/v1/messages',
      other: (path, body) =>
        path === '/v1/messages/count_tokens' ? { input_tokens: roughTokens(JSON.stringify(body)) } : null,
    },
    options,
  )
