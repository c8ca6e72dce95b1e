/**
 * Surprising behaviour of the AI SDK, and how we handle it: one test per trap, over real HTTP to stubs of the providers.
 *
 * Each trap was found by running the pinned versions; a new version that behaves differently fails here first.
 */
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Json } from '#model/kernel/json.ts'
import type { Chunk, ModelAnswer, ModelFailure, ModelReply, ModelRequest, Part } from '#ports/model.ts'
import { startAnthropicStub } from '#testing/stubs/anthropic-stub.ts'
import type { ModelStub, StubBlock, StubBody, StubFault } from '#testing/stubs/model-stub.ts'
import { startOpenAIStub } from '#testing/stubs/openai-stub.ts'
import { aiSdkModel } from './ai-sdk.ts'
import type { ModelSettings } from './settings.ts'

type Kind = 'anthropic' | 'openai' | 'openai-compatible'

const IDS = { anthropic: 'claude-sonnet-4-5', openai: 'gpt-4.1', 'openai-compatible': 'qwen3' } as const
const KINDS = Object.keys(IDS) as readonly Kind[]
const EVERY = KINDS.flatMap((kind) => [
  { kind, isStreamed: false, how: `${kind}, whole` },
  { kind, isStreamed: true, how: `${kind}, streamed` },
])
const SCHEMA = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'], additionalProperties: false }

const tool = (name: string): ModelRequest['tools'][number] => ({ name, description: `${name} it`, input: SCHEMA })
const says = (text: string): readonly StubBlock[] => [{ type: 'text', text }]
const user = (text: string): ModelRequest['messages'][number] => ({ role: 'user', parts: [{ type: 'text', text }] })

interface Asked {
  readonly kind?: Kind
  readonly isStreamed?: boolean
  readonly blocks?: readonly StubBlock[]
  readonly fault?: StubFault | null
  readonly request?: Partial<ModelRequest>
  readonly settings?: Partial<ModelSettings>
  readonly signal?: AbortSignal
}

const open = async ({ kind = 'anthropic', blocks = says('Hello'), fault = null, settings = {} }: Asked) => {
  const start = kind === 'anthropic' ? startAnthropicStub : startOpenAIStub
  const stub: ModelStub = await start({ script: () => blocks, faults: [fault] })
  onTestFinished(() => stub.close())
  const full: ModelSettings = {
    provider: kind,
    protocol: kind,
    id: IDS[kind],
    baseUrl: stub.url,
    apiKey: 'key-of-the-test',
    api: 'chat',
    structured: true,
    ...settings,
  }
  return { stub, model: aiSdkModel(() => full), settings: full }
}

const requestTo = ({ provider, id }: ModelSettings, asked: Asked): ModelRequest => ({
  purpose: 'agent:trap',
  model: { alias: 'default', provider, id },
  system: 'You are under test.',
  messages: [user('Go on.')],
  tools: [],
  output: null,
  maxOutputTokens: 1_000,
  temperature: null,
  attempt: 1,
  ...(asked.isStreamed ? { onChunk: () => {} } : {}),
  ...asked.request,
})

const ask = async (
  asked: Asked,
): Promise<{ readonly reply: ModelReply; readonly bodies: readonly StubBody[]; readonly stub: ModelStub }> => {
  const { stub, model, settings } = await open(asked)
  const reply = await model.call(requestTo(settings, asked), asked.signal ?? new AbortController().signal)
  return { reply, bodies: stub.calls.map((call) => call.body), stub }
}

const answer = (reply: ModelReply): ModelAnswer => {
  if (reply.kind === 'failed') throw new Error(`${reply.code}: ${reply.detail}`)
  return reply
}
const failure = (reply: ModelReply): ModelFailure => {
  if (reply.kind === 'reply') throw new Error('it answered')
  return reply
}
const callBlock = (name: string, input: Json, id?: string): StubBlock => ({
  type: 'call',
  name,
  input,
  ...(id === undefined ? {} : { id }),
})

afterEach(() => {
  vi.unstubAllGlobals()
  vi.unstubAllEnvs()
})

describe.each(EVERY)('$how', ({ kind, isStreamed }) => {
  test('tools have no code: one call of the port makes one call to the provider', async () => {
    const { reply, bodies } = await ask({
      kind,
      isStreamed,
      blocks: [callBlock('Read', { n: 1 })],
      request: { tools: [tool('Read')] },
    })
    expect(answer(reply).calls).toMatchObject([{ tool: 'Read', input: { n: 1 } }])
    expect(bodies).toHaveLength(1)
  })

  test('an unknown tool and an invalid input are returned as the model wrote them, without a result', async () => {
    const blocks = [callBlock('Nobody', { a: 1 }), callBlock('Read', { n: 'one' })]
    const { reply } = await ask({ kind, isStreamed, blocks, request: { tools: [tool('Read')] } })
    const { calls, parts } = answer(reply)
    expect(calls).toMatchObject([
      { tool: 'Nobody', input: { a: 1 } },
      { tool: 'Read', input: { n: 'one' } },
    ])
    expect(parts.map((part) => part.type)).toEqual(['call', 'call'])
  })

  test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'a call of %s is returned like any other call',
    async (name) => {
      const { reply } = await ask({
        kind,
        isStreamed,
        blocks: [callBlock(name, { n: 1 })],
        request: { tools: [tool('Read')] },
      })
      expect(answer(reply).calls).toMatchObject([{ tool: name, input: { n: 1 } }])
    },
  )

  test('two calls with the same id keep their own inputs, or the answer is a bad response', async () => {
    const blocks = [callBlock('Read', { n: 1 }), callBlock('Read', { n: 2 })]
    const fault = { kind: 'repeated-id' } as const
    const { reply } = await ask({ kind, isStreamed, blocks, fault, request: { tools: [tool('Read')] } })
    if (kind !== 'anthropic' && isStreamed) {
      // Here the SDK gives the second an id of its own.
      expect(answer(reply).calls).toMatchObject([{ input: { n: 1 } }, { input: { n: 2 } }])
      expect(new Set(answer(reply).calls.map((call) => call.id)).size).toBe(2)
    } else {
      expect(failure(reply)).toMatchObject({ code: 'MODEL_BAD_RESPONSE', usage: expect.objectContaining({}) })
    }
  })

  test.each([
    ['is not JSON', 'I would rather talk.'],
    ['does not fit', '{"n":"one"}'],
  ])('an answer that %s is returned with its text and its usage; the caller decides', async (_, text) => {
    const { reply } = await ask({ kind, isStreamed, blocks: says(text), request: { output: SCHEMA } })
    expect(answer(reply)).toMatchObject({ parts: [{ type: 'text', text }], finish: 'stop' })
    expect(answer(reply).usage?.output).toBeGreaterThan(0)
  })

  test('calls may precede an answer that must fit a schema', async () => {
    const blocks = [callBlock('Read', { n: 1 })]
    const { reply } = await ask({ kind, isStreamed, blocks, request: { tools: [tool('Read')], output: SCHEMA } })
    expect(answer(reply)).toMatchObject({ finish: 'tools', calls: [{ tool: 'Read' }] })
  })

  test('the usage of an answer is reported', async () => {
    const fault = { kind: 'wrong-usage', input: 120, output: 7, cached: 100 } as const
    const { reply } = await ask({ kind, isStreamed, fault })
    // Anthropic counts cached tokens apart; in ours they are part of the input.
    const input = kind === 'anthropic' ? 220 : 120
    expect(answer(reply).usage).toMatchObject({ input, output: 7, cachedInput: 100 })
  })

  test('the reply names the model that answered, not the one that was requested', async () => {
    const { reply } = await ask({ kind, isStreamed, fault: { kind: 'other-model', model: 'another-one' } })
    expect(answer(reply).modelUsed).toBe('another-one')
  })

  test.each(['length', 'filtered'] as const)('the finish reason %s is reported', async (finish) => {
    const { reply } = await ask({ kind, isStreamed, fault: { kind: 'finish', finish } })
    expect(answer(reply).finish).toBe(finish)
  })

  test('a connection that is reset in the middle of an answer is MODEL_UNAVAILABLE', async () => {
    const blocks = says('A long text that comes in many pieces and never ends')
    const { reply } = await ask({ kind, isStreamed, blocks, fault: { kind: 'cut' } })
    expect(failure(reply).code).toBe('MODEL_UNAVAILABLE')
  })

  test('an answer that is not JSON is a bad response', async () => {
    const { reply } = await ask({ kind, isStreamed, fault: { kind: 'bad-json' } })
    expect(failure(reply).code).toBe('MODEL_BAD_RESPONSE')
  })

  test.each([
    [400, undefined, 'MODEL_REJECTED'],
    [401, undefined, 'MODEL_AUTH'],
    [403, undefined, 'MODEL_AUTH'],
    [404, undefined, 'MODEL_NOT_FOUND'],
    [408, undefined, 'MODEL_TIMEOUT'],
    [409, undefined, 'MODEL_UNAVAILABLE'],
    [413, undefined, 'MODEL_CONTEXT_FULL'],
    [400, 'prompt is too long: 210000 tokens > 200000 maximum', 'MODEL_CONTEXT_FULL'],
    [422, undefined, 'MODEL_REJECTED'],
    [429, undefined, 'RATE_LIMITED'],
    [500, undefined, 'MODEL_UNAVAILABLE'],
    [503, undefined, 'MODEL_UNAVAILABLE'],
    [529, undefined, 'MODEL_UNAVAILABLE'],
  ] as const)('[B9] status %i %s is %s, after one call', async (status, message, code) => {
    const fault = { kind: 'status', status, ...(message === undefined ? {} : { message }) } as const
    const { reply, bodies } = await ask({ kind, isStreamed, fault })
    expect(failure(reply)).toMatchObject({ code, text: null })
    expect(bodies).toHaveLength(1)
  })

  test('the retry-after of the provider is reported', async () => {
    const { reply } = await ask({ kind, isStreamed, fault: { kind: 'status', status: 429, retryAfter: '7' } })
    expect(failure(reply).retryAfterMs).toBe(7_000)
  })

  test('a refused connection is MODEL_UNAVAILABLE', async () => {
    const { stub, model, settings } = await open({ kind })
    await stub.close()
    const reply = await model.call(requestTo(settings, { isStreamed }), new AbortController().signal)
    expect(failure(reply).code).toBe('MODEL_UNAVAILABLE')
  })

  test('the call does not wait for a provider that ignores the signal', async () => {
    const real = globalThis.fetch
    vi.stubGlobal('fetch', (url: string, { signal: _, ...init }: RequestInit) => real(url, init))
    const { stub, model, settings } = await open({ kind, fault: { kind: 'hang' } })
    const abort = new AbortController()
    const reply = model.call(requestTo(settings, { isStreamed }), abort.signal)
    await stub.arrived(1)
    abort.abort(new Error('enough'))
    expect(failure(await reply).code).toBe('STEP_ABORTED')
  })

  test('keys and addresses of the environment are not used', async () => {
    for (const name of ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY']) vi.stubEnv(name, 'key-of-the-environment')
    for (const name of ['ANTHROPIC_BASE_URL', 'OPENAI_BASE_URL']) vi.stubEnv(name, 'http://127.0.0.1:1')
    const { reply, stub } = await ask({ kind, isStreamed })
    expect(answer(reply).finish).toBe('stop')
    expect(JSON.stringify(stub.calls[0]?.headers)).toContain('key-of-the-test')
    expect(JSON.stringify(stub.calls[0]?.headers)).not.toContain('key-of-the-environment')
  })

  test('reasoning of another provider is not sent', async () => {
    const parts: readonly Part[] = [
      { type: 'reasoning', text: 'secret thought', provider: 'somebody-else', meta: { 'somebody-else': { x: 1 } } },
      { type: 'text', text: 'spoken' },
    ]
    const messages = [user('a'), { role: 'assistant' as const, parts }, user('b')]
    const { reply, bodies } = await ask({ kind, isStreamed, request: { messages } })
    expect(answer(reply).finish).toBe('stop')
    expect(JSON.stringify(bodies)).not.toContain('secret thought')
    expect(JSON.stringify(bodies)).toContain('spoken')
  })

  test('a call without a result is returned as a failure, and nothing is sent', async () => {
    const parts: readonly Part[] = [{ type: 'call', id: 'c1', tool: 'Read', input: { n: 1 } }]
    const messages = [user('a'), { role: 'assistant' as const, parts }, user('b')]
    const { reply, bodies } = await ask({ kind, isStreamed, request: { messages } })
    expect(failure(reply).code).toBe('MODEL_REJECTED')
    expect(bodies).toEqual([])
  })

  test('ids that providers refuse, or that repeat, are rewritten, in call and result alike', async () => {
    const turn = (n: number): ModelRequest['messages'] => [
      { role: 'assistant', parts: [{ type: 'call', id: '1.0', tool: 'Read', input: { n } }] },
      { role: 'tool', parts: [{ type: 'result', id: '1.0', tool: 'Read', output: { n }, isError: false }] },
    ]
    const messages = [user('a'), ...turn(1), ...turn(2)]
    const { reply, bodies } = await ask({ kind, isStreamed, request: { messages, tools: [tool('Read')] } })
    expect(answer(reply).finish).toBe('stop')
    const sent = JSON.stringify(bodies[0]?.['messages'])
    expect(sent).not.toContain('"1.0"')
    expect([sent.split('"1_0"').length - 1, sent.split('"1_0_2"').length - 1]).toEqual([2, 2])
  })

  test('tools are sent in the order of their names', async () => {
    const { bodies } = await ask({ kind, isStreamed, request: { tools: ['Zip', 'Ask', 'Read'].map(tool) } })
    const names = /"name":"(Zip|Ask|Read)"/g
    expect([...JSON.stringify(bodies[0]?.['tools']).matchAll(names)].map((match) => match[1])).toEqual([
      'Ask',
      'Read',
      'Zip',
    ])
  })

  test('an error of a tool is sent as an error', async () => {
    const messages: ModelRequest['messages'] = [
      user('a'),
      { role: 'assistant', parts: [{ type: 'call', id: 'c1', tool: 'Read', input: { n: 1 } }] },
      { role: 'tool', parts: [{ type: 'result', id: 'c1', tool: 'Read', output: 'no such file', isError: true }] },
    ]
    const { reply, bodies } = await ask({ kind, isStreamed, request: { messages, tools: [tool('Read')] } })
    expect(answer(reply).finish).toBe('stop')
    expect(JSON.stringify(bodies)).toContain('no such file')
    if (kind === 'anthropic') expect(JSON.stringify(bodies)).toContain('"is_error":true')
  })
})

describe.each(KINDS)('%s, streamed', (kind) => {
  test('an answer that ends early and cleanly is a failure; the received text is kept as evidence', async () => {
    const blocks = says('A long text that comes in many pieces and never ends')
    const { reply } = await ask({ kind, isStreamed: true, blocks, fault: { kind: 'early-end' } })
    expect(failure(reply)).toMatchObject({ code: 'MODEL_UNAVAILABLE', text: expect.stringContaining('A long text') })
  })
})

describe.each([false, true])('Anthropic, streamed: %s', (isStreamed) => {
  test('an answer without usage is a bad response, which may be retried', async () => {
    const { reply } = await ask({ isStreamed, fault: { kind: 'no-usage' } })
    expect(failure(reply).code).toBe('MODEL_BAD_RESPONSE')
  })

  test('the signature of reasoning survives the ledger and is sent back unchanged', async () => {
    const fault = { kind: 'thinking', text: 'first I think', signature: 'c2lnbmVk' } as const
    const { reply } = await ask({ isStreamed, fault })
    const kept: readonly Part[] = JSON.parse(JSON.stringify(answer(reply).parts))
    expect(kept[0]).toMatchObject({ type: 'reasoning', text: 'first I think', provider: 'anthropic' })
    const messages = [user('a'), { role: 'assistant' as const, parts: kept }, user('b')]
    const { bodies } = await ask({ isStreamed, request: { messages } })
    expect(JSON.stringify(bodies)).toContain('"thinking":"first I think","signature":"c2lnbmVk"')
  })
})

describe.each([false, true])('OpenAI-compatible servers, streamed: %s', (isStreamed) => {
  test('a server without schemas gets the schema in its instructions; the warning is in the reply, not on the console', async () => {
    const print = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => print.mockRestore())
    const { reply, bodies } = await ask({
      kind: 'openai-compatible',
      isStreamed,
      blocks: says('{"n":1}'),
      request: { output: SCHEMA },
      settings: { structured: false },
    })
    expect(JSON.stringify(bodies[0]?.['messages'])).toContain(JSON.stringify(JSON.stringify(SCHEMA)).slice(1, -1))
    expect(answer(reply).warnings.join()).toMatch(/schema/i)
    expect(print).not.toHaveBeenCalled()
  })

  test('without a key no authorization header is sent', async () => {
    const { stub } = await ask({ kind: 'openai-compatible', isStreamed, settings: { apiKey: null } })
    expect(stub.calls[0]?.headers).not.toHaveProperty('authorization')
  })

  test.each(['openai', 'openai-compatible'] as const)(
    '%s: a complete answer without usage is a reply without usage',
    async (kind) => {
      const { reply } = await ask({ kind, isStreamed, fault: { kind: 'no-usage' } })
      expect(answer(reply)).toMatchObject({ finish: 'stop', usage: null })
    },
  )

  test('OpenAI is called over chat completions unless the model says responses', async () => {
    const { stub } = await ask({ kind: 'openai', isStreamed })
    const refused = await ask({ kind: 'openai', isStreamed, settings: { api: 'responses' } })
    expect(stub.calls[0]?.path).toBe('/v1/chat/completions')
    expect(failure(refused.reply).code).toBe('MODEL_NOT_FOUND')
  })

  test('a schema is strict for OpenAI only if it closes every object', async () => {
    const loose = { type: 'object', properties: { n: { type: 'number' }, m: { type: 'number' } }, required: ['n'] }
    const sent = await Promise.all(
      [SCHEMA, loose].map(async (output) => (await ask({ kind: 'openai', isStreamed, request: { output } })).bodies[0]),
    )
    expect(sent.map((body) => /"strict":(\w+)/.exec(JSON.stringify(body))?.[1])).toEqual(['true', 'false'])
  })
})

describe.each(KINDS)('an answer of %s that stalls in the middle', (kind) => {
  test('is streamed as far as it came, and given up when its signal aborts', async () => {
    const { model, settings } = await open({
      kind,
      blocks: says('One, two, three, four, five.'),
      fault: { kind: 'stall' },
    })
    const giveUp = new AbortController()
    let heard = ''
    const request = requestTo(settings, { kind })
    const onChunk = (delta: Chunk): void => {
      heard += delta.type === 'text' ? delta.text : ''
      // Some text arrives before the end.
      giveUp.abort()
    }
    const reply = await model.call({ ...request, onChunk }, giveUp.signal)
    expect(heard).toMatch(/^One/)
    expect(reply).toMatchObject({ kind: 'failed', code: 'STEP_ABORTED', text: expect.stringMatching(/^One/) })
  })
})
