/**
 * A language model whose answers a test releases chunk by chunk.
 *
 * Owns the calls that wait for their next chunk. An aborted call answers at once, like every model (model-2).
 */
import type { Models } from '#adapters/models/ai-sdk/registry.ts'
import type { ModelAnswer, ModelReply, ModelRequest } from '#ports/model.ts'

export interface HeldCall {
  readonly request: ModelRequest
  readonly signal: AbortSignal
  /** Streams one chunk of the answer. */
  say(text: string): void
  /** Ends the answer: everything streamed so far, and this. */
  end(text?: string): void
  fail(reply: Partial<Extract<ModelReply, { readonly kind: 'failed' }>>): void
}

export interface HeldModel extends Pick<Models, 'model' | 'nameOf'> {
  /** The calls in their order of arrival. */
  readonly calls: readonly HeldCall[]
  /** Resolves with call number `n`, counted from 1, once it arrives. */
  call(n: number): Promise<HeldCall>
}

const answerOf = (text: string): ModelAnswer => ({
  kind: 'reply',
  parts: [{ type: 'text', text }],
  calls: [],
  finish: 'stop',
  usage: { input: 10, output: 10, cachedInput: 0, cacheWrites: 0, reasoning: 0 },
  modelUsed: 'held-1',
  responseId: null,
  warnings: [],
  simulated: true,
})

const NO = {
  kind: 'failed',
  code: 'STEP_ABORTED',
  detail: 'given up',
  retryAfterMs: null,
  usage: null,
  text: null,
} as const

const openCall = (
  request: ModelRequest,
  signal: AbortSignal,
): { readonly call: HeldCall; readonly reply: Promise<ModelReply> } => {
  let settle: (reply: ModelReply) => void = () => {}
  const reply = new Promise<ModelReply>((resolve) => {
    settle = resolve
  })
  let said = ''
  const say = (text: string): void => {
    said += text
    request.onChunk?.({ type: 'text', text })
  }
  signal.addEventListener('abort', () => settle(NO), { once: true })
  const call: HeldCall = {
    request,
    signal,
    say,
    end: (text = '') => {
      if (text !== '') say(text)
      settle(answerOf(said))
    },
    fail: (over) => settle({ ...NO, code: 'MODEL_UNAVAILABLE', ...over }),
  }
  return { call, reply }
}

export const heldModel = (): HeldModel => {
  const calls: HeldCall[] = []
  const waiting: (() => void)[] = []
  return {
    calls,
    call: async (n) => {
      while (calls.length < n) await new Promise<void>((resolve) => waiting.push(resolve))
      return calls[n - 1] as HeldCall
    },
    nameOf: (alias) => ({ alias, provider: 'held', id: 'held-1' }),
    model: {
      call: (request, signal) => {
        const { call, reply } = openCall(request, signal)
        calls.push(call)
        for (const resolve of waiting.splice(0)) resolve()
        return reply
      },
    },
  }
}
