/**
 * Builds the stub's answers in the shape of OpenAI's responses API, whole and as events.
 *
 * Owns only that shape; the server around it is openai-stub.ts.
 */
import type { Json } from '#model/kernel/json.ts'
import {
  callId,
  chunksOf,
  inputText,
  roughTokens,
  type StubBlock,
  type StubDialect,
  type StubFault,
} from './model-stub.ts'

type Members = { readonly [key: string]: Json }

const itemOf = (block: StubBlock, n: number, i: number, fault: StubFault | null): Members => {
  switch (block.type) {
    case 'text':
      return {
        type: 'message',
        id: `msg_${n}_${i}`,
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: block.text, annotations: [] }],
      }
    case 'thinking':
      return {
        type: 'reasoning',
        id: `rs_${n}_${i}`,
        encrypted_content: block.signature,
        summary: [{ type: 'summary_text', text: block.text }],
      }
    case 'call':
      return {
        type: 'function_call',
        id: `fc_${n}_${i}`,
        call_id: callId(block, n, i, fault),
        name: block.name,
        arguments: inputText(block.input),
        status: 'completed',
      }
  }
}

const event = (type: string, members: Members): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`

const deltasOf = (block: StubBlock, item: Members, output_index: number): readonly string[] => {
  const place = { item_id: item['id'] ?? '', output_index }
  switch (block.type) {
    case 'text':
      return chunksOf(block.text).map((delta) =>
        event('response.output_text.delta', { ...place, content_index: 0, delta }),
      )
    case 'thinking':
      return [
        event('response.reasoning_summary_part.added', { ...place, summary_index: 0 }),
        ...chunksOf(block.text).map((delta) =>
          event('response.reasoning_summary_text.delta', { ...place, summary_index: 0, delta }),
        ),
      ]
    case 'call':
      return chunksOf(inputText(block.input)).map((delta) =>
        event('response.function_call_arguments.delta', { ...place, delta }),
      )
  }
}

/** An item when it begins: still empty. */
const emptied = (item: Members): Members => ({
  ...item,
  ...('content' in item ? { content: [] } : {}),
  ...('arguments' in item ? { arguments: '' } : {}),
  ...('summary' in item ? { summary: [] } : {}),
})

export const answerResponses: StubDialect['answer'] = (body, blocks, n, fault) => {
  const items = blocks.map((block, i) => itemOf(block, n, i, fault))
  const wrong = fault?.kind === 'wrong-usage' ? fault : null
  const usage = {
    input_tokens: wrong?.input ?? roughTokens(JSON.stringify(body)),
    input_tokens_details: { cached_tokens: wrong?.cached ?? 0 },
    output_tokens: wrong?.output ?? Math.max(1, roughTokens(JSON.stringify(blocks))),
    output_tokens_details: { reasoning_tokens: 0 },
  }
  const head = {
    id: `resp_${n}`,
    created_at: 1_700_000_000,
    model: fault?.kind === 'other-model' ? fault.model : (body['model'] ?? null),
  }
  const cutShort = fault?.kind === 'finish' ? fault.finish : null
  const incomplete = { reason: cutShort === 'length' ? 'max_output_tokens' : 'content_filter' }
  const end: Members = {
    ...head,
    status: cutShort === null ? 'completed' : 'incomplete',
    incomplete_details: cutShort === null ? null : incomplete,
    ...(fault?.kind === 'no-usage' ? {} : { usage }),
  }
  return {
    whole: JSON.stringify({ ...end, output: items }),
    events: [
      event('response.created', { response: head }),
      ...items.flatMap((item, output_index) => [
        event('response.output_item.added', { output_index, item: emptied(item) }),
        ...deltasOf(blocks[output_index] as StubBlock, item, output_index),
        event('response.output_item.done', { output_index, item }),
      ]),
      event(cutShort === null ? 'response.completed' : 'response.incomplete', { response: end }),
    ],
  }
}
