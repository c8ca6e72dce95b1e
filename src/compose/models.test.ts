/** Models for executors: real ones over HTTP if the environment has keys, else simulated; and the cost of a call. */
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { normalise, type SystemSource } from '#manifest/define/define.ts'
import { startOpenAIStub } from '#testing/stubs/openai-stub.ts'
import { createTrihand } from './assemble.ts'
import { executorModels } from './models.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

const open = (source: Partial<SystemSource> = {}, environment: Record<string, string> = {}) => {
  const system = normalise({ name: 'shop', ...source }, (text) => text)
  return executorModels(() => system, environment, undefined)
}
const TOKENS = { input: 1_000, output: 100, cachedInput: 0, cacheWrites: 0 }

describe('the price of a model', () => {
  test('[E4] is known for a known id, by its own provider', () => {
    const { price } = open({}, { OPENAI_API_KEY: 'k' })
    expect(price('gpt-4.1', TOKENS)).toBe(2_800)
  })

  test('[B7] is unknown for an unknown id, and zero for a simulated model', () => {
    const { price } = open({}, { OPENAI_API_KEY: 'k' })
    expect(price('nobody-knows-it', TOKENS)).toBeNull()
    expect(price('simulated/llm@1234', TOKENS)).toBe(0)
  })

  test('the price that the system declares applies, wherever the model runs', () => {
    const aliases = { home: { id: 'qwen', baseUrl: 'http://127.0.0.1:9/v1' } }
    const models = { aliases, prices: { qwen: { input: 1, output: 1 } } }
    expect(open({ models }, { OPENAI_API_KEY: 'k' }).price('qwen', TOKENS)).toBe(1_100)
  })
})

test('an answer is checked against its schema, and each issue has a path', () => {
  const { check } = open().models
  const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
  expect(check(schema, { n: 1 })).toEqual([])
  expect(check(schema, { n: 'one' })).toEqual([expect.stringMatching(/^\/n: /)])
})

test('[E4] a model task runs over real HTTP, and the run records which model answered and the cost', async () => {
  const stub = await startOpenAIStub({
    script: () => [{ type: 'text', text: 'Hello' }],
    faults: [{ kind: 'wrong-usage', input: 1_000, output: 1 }],
  })
  onTestFinished(() => stub.close())
  vi.stubEnv('TRIHAND_MODELS', 'live')
  vi.stubEnv('OPENAI_API_KEY', 'key-of-the-test')
  vi.stubEnv('OPENAI_BASE_URL', stub.url)
  const greet = fn('greet', {}, ({ step }) =>
    step.execute('say', { type: 'llm', task: { prompt: 'Say hello.', model: 'gpt-4.1' } }),
  )
  const trihand = await createTrihand({ system: { name: 'shop', functions: [greet] }, database: 'memory:' })
  onTestFinished(() => trihand.close())
  const { status, output } = await trihand.call('greet')
  expect(status).toBe('success')
  expect(JSON.stringify(output)).toContain('Hello')
  expect(output).toMatchObject({ modelUsed: 'gpt-4.1', usage: { cost: 2_008 } })
  expect(stub.calls).toMatchObject([{ headers: { authorization: 'Bearer key-of-the-test' } }])
})
