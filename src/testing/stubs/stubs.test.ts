/** The stubs as a client without an SDK sees them: what they serve, what they count, how they refuse. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { startAnthropicStub } from './anthropic-stub.ts'
import type { ModelStub, StubOptions } from './model-stub.ts'
import { startOpenAIStub } from './openai-stub.ts'

const STUBS = {
  anthropic: {
    start: startAnthropicStub,
    path: '/messages',
    error: { type: 'error', error: { type: 'not_found_error' } },
  },
  openai: { start: startOpenAIStub, path: '/chat/completions', error: { error: { type: 'invalid_request_error' } } },
} as const

const open = async (kind: keyof typeof STUBS, over: Partial<StubOptions> = {}): Promise<ModelStub> => {
  const stub = await STUBS[kind].start({ script: (_, n) => [{ type: 'text', text: `answer ${n}` }], ...over })
  onTestFinished(() => stub.close())
  return stub
}
const post = (stub: ModelStub, path: string, body: object = {}): Promise<Response> =>
  fetch(`${stub.url}${path}`, { method: 'POST', body: JSON.stringify(body), headers: { 'x-test': 'yes' } })

describe.each(['anthropic', 'openai'] as const)('%s', (kind) => {
  const { path, error } = STUBS[kind]

  test('answers by call number, and records the requests', async () => {
    const stub = await open(kind)
    expect(await (await post(stub, path, { model: 'm', n: 1 })).text()).toContain('answer 1')
    expect(await (await post(stub, path, { model: 'm', n: 2 })).text()).toContain('answer 2')
    expect(stub.calls).toMatchObject([
      { path: `/v1${path}`, headers: { 'x-test': 'yes' }, body: { model: 'm', n: 1 } },
      { body: { n: 2 } },
    ])
  })

  test('has a fault only for the call it was set for', async () => {
    const stub = await open(kind, { faults: [null, { kind: 'status', status: 529, retryAfter: '3' }] })
    const answers = [await post(stub, path), await post(stub, path), await post(stub, path)]
    expect(answers.map(({ status }) => status)).toEqual([200, 529, 200])
    expect(answers[1]?.headers.get('retry-after')).toBe('3')
    expect(stub.calls).toHaveLength(3)
  })

  test('answers another path with not found in the format of the API, and does not count it as a call', async () => {
    const stub = await open(kind)
    const answer = await post(stub, '/elsewhere')
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject(error)
    expect(stub.calls).toEqual([])
  })

  test('ends a stream in the format of the API', async () => {
    const stub = await open(kind)
    const text = await (await post(stub, path, { stream: true })).text()
    expect(text.trimEnd()).toMatch(kind === 'openai' ? /data: \[DONE\]$/ : /event: message_stop\ndata: .*$/)
  })

  test('settles `arrived` when a call has arrived', async () => {
    const stub = await open(kind, { faults: [{ kind: 'hang' }] })
    const abort = new AbortController()
    const hanging = fetch(`${stub.url}${path}`, { method: 'POST', body: '{}', signal: abort.signal }).catch(String)
    await stub.arrived(1)
    abort.abort()
    expect(await hanging).toContain('AbortError')
  })
})

test('counting tokens with Anthropic is not counted as a call', async () => {
  const stub = await open('anthropic')
  const answer = await post(stub, '/messages/count_tokens', { model: 'm' })
  expect(await answer.json()).toEqual({ input_tokens: expect.any(Number) })
  expect(stub.calls).toEqual([])
})

test('OpenAI serves no responses unless it is configured to', async () => {
  const plain = await open('openai')
  const newer = await startOpenAIStub({ script: () => [{ type: 'text', text: 'hello' }], responses: true })
  onTestFinished(() => newer.close())
  const answers = await Promise.all([plain, newer].map((stub) => post(stub, '/responses', { input: 'x' })))
  expect(answers.map(({ status }) => status)).toEqual([404, 200])
})
