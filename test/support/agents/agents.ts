/**
 * A model for tests of agents: answers by a function, and counts what a provider would have billed.
 *
 * Owns the count of paid calls, across crashes of the calling system.
 */
import type { Json } from '#model/kernel/json.ts'
import type { Model, ModelAnswer, ModelReply, ModelRequest } from '#ports/model.ts'

export interface PaidModel {
  /** Every request that left the process. */
  readonly calls: ModelRequest[]
  readonly model: Model
  nameOf(name: string): ModelRequest['model']
}

export const said = (text: string, given: Partial<ModelAnswer> = {}): ModelReply => ({
  kind: 'reply',
  parts: [{ type: 'text', text }],
  calls: [],
  finish: 'stop',
  usage: { input: 100, output: 20, cachedInput: 0, cacheWrites: 0, reasoning: 0 },
  modelUsed: 'sonnet',
  responseId: null,
  warnings: [],
  simulated: false,
  ...given,
})

export const called = (...calls: readonly (readonly [string, Json])[]): ModelReply =>
  said('', {
    parts: calls.map(([tool, input], index) => ({ type: 'call', id: `p${index}`, tool, input })),
    calls: calls.map(([tool, input], index) => ({ id: `p${index}`, tool, input })),
    finish: 'tools',
  })

export const failedWith = (
  code: Extract<ModelReply, { kind: 'failed' }>['code'],
  retryAfterMs: number | null = null,
): ModelReply => ({
  kind: 'failed',
  code,
  detail: `the stub says ${code}`,
  retryAfterMs,
  usage: null,
  text: null,
})

/** `turn` counts from 0: how often the model has answered in this conversation. */
export const paidModel = (
  answer: (request: ModelRequest, turn: number) => ModelReply | Promise<ModelReply>,
): PaidModel => {
  const calls: ModelRequest[] = []
  return {
    calls,
    nameOf: (name) => ({ alias: name, provider: 'stub', id: name }),
    model: {
      call: async (request) => {
        calls.push(request)
        return answer(request, request.messages.filter(({ role }) => role === 'assistant').length)
      },
    },
  }
}

/** The content of a request's last message, results included. */
export const lastText = ({ messages }: ModelRequest): string =>
  (messages.at(-1)?.parts ?? [])
    .map((part) => (part.type === 'text' ? part.text : part.type === 'result' ? String(part.output) : ''))
    .join('\n')
