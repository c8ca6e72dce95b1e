/** Names of models: their providers, their addresses, what is missing, and when all of them are simulated. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { defineModels, type ModelsSource } from '#manifest/define/models.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Model, ModelRequest } from '#ports/model.ts'
import { startAnthropicStub } from '#testing/stubs/anthropic-stub.ts'
import { startOpenAIStub } from '#testing/stubs/openai-stub.ts'
import { openModels, type Variables } from './registry.ts'

const scripted: Model = {
  call: async () => ({
    kind: 'failed',
    code: 'MODEL_REJECTED',
    detail: 'scripted',
    retryAfterMs: null,
    usage: null,
    text: null,
  }),
}
const resolve = (text: string): string => text.replace(/^\$\{HERE\}/, 'http://127.0.0.1:9')
const open = (environment: Variables, models: ModelsSource = {}) =>
  openModels({ book: defineModels(models), environment, scripted, resolve })
const KEYS = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o' }

const request = (over: Pick<ModelRequest, 'model'>): ModelRequest => ({
  purpose: 'agent:test',
  system: '',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hello?' }] }],
  tools: [],
  output: null,
  maxOutputTokens: 100,
  temperature: null,
  attempt: 1,
  ...over,
})
const codeOf = (act: () => unknown): string => {
  try {
    act()
    return 'nothing was thrown'
  } catch (error) {
    return error instanceof TrihandError ? `${error.code}: ${error.detail}` : String(error)
  }
}

describe('simulated', () => {
  test.each<[string, Variables, boolean]>([
    ['no key at all', {}, true],
    ['an empty key', { OPENAI_API_KEY: '' }, true],
    ['one key', { OPENAI_API_KEY: 'o' }, false],
    ['keys, and told to', { ...KEYS, TRIHAND_MODELS: 'simulated' }, true],
    ['no key, and told to be live', { TRIHAND_MODELS: 'live' }, false],
    ['auto with a key', { ANTHROPIC_API_KEY: 'a', TRIHAND_MODELS: 'auto' }, false],
    ["another provider's key", { GROQ_API_KEY: 'g' }, true],
  ])('%s: %o is %s', (_, environment, expected) => {
    expect(open(environment).simulated !== null).toBe(expected)
  })

  test('a key of a provider that the system names makes it live', () => {
    const aliases = { fast: { id: 'llama', provider: 'groq', baseUrl: 'https://groq.example/v1' } }
    expect(open({ GROQ_API_KEY: 'g' }, { aliases }).simulated).toBeNull()
  })

  test('the scripted model answers under every name, and any name is valid', () => {
    const models = open({})
    expect(models.model).toBe(scripted)
    expect(models.nameOf('whatever')).toEqual({ alias: 'whatever', provider: 'simulated', id: 'whatever' })
  })

  test('an unknown value of TRIHAND_MODELS is refused', () => {
    expect(codeOf(() => open({ TRIHAND_MODELS: 'fake' }))).toMatch(/^CONFIG_INVALID: TRIHAND_MODELS is fake/)
  })
})

describe('names', () => {
  const aliases = {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference, as definitions write it
    home: { id: 'gpt-4.1', baseUrl: '${HERE}/v1' },
    sonnet: 'claude-sonnet-4-5',
    fast: { id: 'llama', provider: 'groq', baseUrl: 'https://groq.example/v1' },
  }

  test.each([
    ['haiku', 'anthropic', 'claude-haiku-4-5'],
    ['sonnet', 'anthropic', 'claude-sonnet-4-5'],
    ['claude-opus-5', 'anthropic', 'claude-opus-5'],
    ['gpt-4.1', 'openai', 'gpt-4.1'],
    ['o3', 'openai', 'o3'],
    ['home', 'openai-compatible', 'gpt-4.1'],
    ['fast', 'groq', 'llama'],
  ])('%s is %s %s', (name, provider, id) => {
    expect(open(KEYS, { aliases }).nameOf(name)).toEqual({ alias: name, provider, id })
  })

  test.each(['llama', 'constructor', '__proto__'])('%s has no known provider', (name) => {
    expect(codeOf(() => open(KEYS).nameOf(name))).toMatch(/^CONFIG_INVALID: .*give its provider/)
  })
})

describe('a start fails if something is missing', () => {
  test.each<[string, Variables, ModelsSource, RegExp]>([
    [
      'a key',
      { OPENAI_API_KEY: 'o' },
      { aliases: { a: 'claude-opus-5' } },
      /^ENV_MISSING: ANTHROPIC_API_KEY .*models\.a/,
    ],
    [
      'an address',
      KEYS,
      { aliases: { a: { id: 'x', provider: 'groq' } } },
      /^CONFIG_INVALID: models\.a: groq needs a base_url/,
    ],
    ['a provider', KEYS, { aliases: { a: 'x' } }, /^CONFIG_INVALID: models\.a: the provider of the model x is unknown/],
    ['sense', KEYS, { aliases: { a: { id: 'x', baseUrl: 'here' } } }, /^CONFIG_INVALID: models\.a: here is not a URL/],
  ])('%s', (_, environment, models, expected) => {
    expect(codeOf(() => open(environment, models))).toMatch(expected)
  })

  test('a key that only a plain id needs is reported by the call, as a failure', async () => {
    const models = open({ OPENAI_API_KEY: 'o' })
    const reply = await models.model.call(request({ model: models.nameOf('haiku') }), new AbortController().signal)
    expect(reply).toMatchObject({ kind: 'failed', code: 'ENV_MISSING' })
  })
})

describe('a live call', () => {
  test('goes to the address of its name, with its key', async () => {
    const script = () => [{ type: 'text' as const, text: 'Hello' }]
    const [claude, home] = await Promise.all([startAnthropicStub({ script }), startOpenAIStub({ script })])
    onTestFinished(async () => {
      await Promise.all([claude.close(), home.close()])
    })
    const environment = { ANTHROPIC_API_KEY: 'key-a', ANTHROPIC_BASE_URL: claude.url, HOME_API_KEY: 'key-h' }
    const models = open(environment, { aliases: { home: { id: 'qwen', provider: 'home', baseUrl: home.url } } })
    const { signal } = new AbortController()
    for (const name of ['sonnet', 'home']) {
      expect(await models.model.call(request({ model: models.nameOf(name) }), signal)).toMatchObject({ kind: 'reply' })
    }
    expect(claude.calls).toMatchObject([{ headers: { 'x-api-key': 'key-a' }, body: { model: 'claude-sonnet-5' } }])
    expect(home.calls).toMatchObject([{ headers: { authorization: 'Bearer key-h' }, body: { model: 'qwen' } }])
  })
})
