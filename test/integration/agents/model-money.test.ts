/**
 * The cost of failing models, through the HTTP API of a system whose models are real providers on this machine.
 *
 * Every provider is the stub of test/support/agents/model-provider.ts, called by the public adapters.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { moneyText } from '#cli/runs/costs.ts'
import { fn } from '#executors/workflow/function.ts'
import { agent } from '#manifest/define/agents.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import type { AgentOptions } from '#model/agent/source.ts'
import {
  type Act,
  PAGE,
  type Provider,
  refuses,
  says,
  sends,
  startProvider,
} from '#test/support/agents/model-provider.ts'
import { systemOf } from '#test/support/manifest/manifest-system.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'

const acts = new Map<string, Act>()
let provider: Provider
let folder = ''
beforeAll(async () => {
  provider = await startProvider((model) => acts.get(model) ?? says('Hello.'))
  folder = mkdtempSync(join(tmpdir(), 'trihand-money-'))
  writeFileSync(join(folder, 'answer.md'), 'Answer.')
})
afterAll(async () => {
  await provider.close()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(() => {
  for (const name of ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'TRIHAND_MODELS']) vi.stubEnv(name, '')
})
afterEach(() => {
  acts.clear()
  vi.unstubAllEnvs()
})

/** Dollars per million tokens = micro-dollars per token. */
const PRICE = { input: 1, output: 5, cachedInput: 0.1, cacheWrites: 2 }
const ANSWER = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }

const open = (source: Partial<SystemSource>, ids: readonly string[]): Promise<HttpApp> => {
  const place = { provider: 'home', baseUrl: provider.url }
  return openApp({
    name: 'money',
    folder,
    models: {
      default: ids[0] ?? 'm',
      aliases: Object.fromEntries(ids.map((id) => [id, { id, ...place }])),
      prices: Object.fromEntries(ids.filter((id) => !id.startsWith('unpriced')).map((id) => [id, PRICE])),
    },
    ...source,
  })
}

const asker = (options: AgentOptions = {}) =>
  agent('asker', { instructions: 'Answer.', ...options, limits: { maxRetries: 0, timeout: '5s', ...options.limits } })

/** Runs the handler once in a new system; returns how it ended and its cost, both by the system's costs and by the run's page. */
const play = async (source: Partial<SystemSource>, ids: readonly string[], handler = 'asker') => {
  const app = await open(source, ids)
  try {
    const { body } = await app.post('/api/runs', { name: handler, input: {} })
    const run = await app.when(body.id, 'success')
    const { body: costs } = await app.ask('/api/costs?by=model')
    const { body: detail } = await app.ask(`/api/runs/${run.id}/step`)
    const { body: timeline } = await app.ask(`/api/runs/${run.id}/timeline`)
    return {
      run,
      costs: costs.items,
      total: costs.total,
      spent: detail.spent,
      notes: detail.notes,
      marks: timeline.items,
      app,
    }
  } finally {
    await app.close()
  }
}

describe('a failed model call', () => {
  const limits = { maxTokens: 6_000, maxOutputTokens: 4_000, maxRetries: 1 }
  const two = (more: AgentOptions = {}) => asker({ model: 'first', fallbackModels: ['second'], ...more })

  test.each<[string, Act, object]>([
    ['two 503s', refuses(503), { cost_usd: 0, unpriced_calls: 0 }],
    ['two web pages', sends(200, { 'content-type': 'text/html' }, PAGE), { cost_usd: null, unpriced_calls: 2 }],
    ['two connections that were cut', ({ response }) => void response.destroy(), { cost_usd: null, unpriced_calls: 2 }],
  ])('agent-state-3: returns its reserved cost: after %s the fallback is called (15.3.1)', async (_, act, failed) => {
    acts.set('first', act)
    acts.set('second', says('from the second'))
    const { run, costs, spent, marks } = await play({ agents: [two({ limits })] }, ['first', 'second'])
    expect(run).toMatchObject({ status: 'success', output: 'from the second' })
    // The failed call is listed as failed, with its cost as far as it is known.
    const rows = [
      { model: 'first', calls: 2, failed_calls: 2, ...failed },
      { model: 'second', calls: 1, failed_calls: 0, cost_usd: 0.0002, unpriced_calls: 0 },
    ]
    for (const found of [costs, spent])
      expect(found).toEqual(expect.arrayContaining(rows.map((row) => expect.objectContaining(row))))
    const seen = marks
      .filter(({ step = '' }) => step.startsWith('agent/model'))
      .map(({ becomes }: { readonly becomes: string }) => becomes)
    expect(seen).toEqual(['failed', 'failed', 'done'])
  })

  test('is no paid call if the budget is too small for it; the next, cheaper model is called (15.3.1)', async () => {
    const place = { provider: 'home', baseUrl: provider.url }
    const models = {
      aliases: { dear: { id: 'dear', ...place }, cheap: { id: 'cheap', ...place } },
      prices: { dear: { input: 1_000, output: 1_000 }, cheap: PRICE },
    }
    const agents = [asker({ model: 'dear', fallbackModels: ['cheap'], limits: { maxCostUsd: 0.01 } })]
    const { run, total, marks } = await play({ agents, models }, [])
    expect(run).toMatchObject({ status: 'success', output: 'Hello.' })
    expect(provider.callsOf('dear')).toEqual([])
    // The model was not called, so no call is listed.
    expect(total).toMatchObject({ calls: 1, cost_usd: 0.0002 })
    const passed = marks.find(({ step }: { readonly step?: string }) => step === 'agent/model[0]')
    expect(passed).toMatchObject({ becomes: 'failed', code: 'BUDGET_EXCEEDED' })
  })

  test('is listed as failed on the command line, with an unknown cost (15.3.1)', async () => {
    acts.set('first', ({ response }) => void response.destroy())
    const { total } = await play({ agents: [two({ limits: { maxRetries: 0 } })] }, ['first', 'second'])
    expect(moneyText(total)).toBe('$0.0002 and unknown for 1 call')
  })
})

describe('the cost of a call', () => {
  test('is known for an answer of more than 64 KB, of an agent and of a function (15.3.3)', async () => {
    const usage = { prompt_tokens: 1_000, completion_tokens: 30_000, total_tokens: 31_000 }
    acts.set('long', says({ text: 'word '.repeat(16_000), usage }))
    const limits = { maxTokens: 60_000, maxOutputTokens: 40_000 }
    const constraints = { maxTokens: 40_000 }
    const ask = fn('ask', {}, async ({ step }) => {
      const { result } = await step.execute('ask', {
        type: 'llm',
        task: { prompt: 'Go on.', model: 'long' },
        constraints,
      })
      return typeof result
    })
    const parts = { agents: [asker({ limits })], functions: [ask] }
    for (const handler of ['asker', 'ask']) {
      const { run, costs, spent } = await play(parts, ['long'], handler)
      const row = {
        model: 'long',
        calls: 1,
        input_tokens: 1_000,
        output_tokens: 30_000,
        cost_usd: 0.151,
        unpriced_calls: 0,
      }
      expect({ handler, status: run.status, costs, spent }).toMatchObject({
        status: 'success',
        costs: [row],
        spent: [row],
      })
    }
  })

  test('is unknown, not zero, if another model answers than the one requested (15.3.3)', async () => {
    acts.set('asked', says({ text: 'Hello.', model: 'somebody-else' }))
    const { run, costs } = await play({ agents: [asker()] }, ['asked'])
    expect(run.error).toMatchObject({ code: 'MODEL_NOT_ALLOWED', message: expect.stringContaining('somebody-else') })
    const row = {
      model: 'somebody-else',
      calls: 1,
      failed_calls: 1,
      input_tokens: 120,
      cost_usd: null,
      unpriced_calls: 1,
    }
    expect(costs).toMatchObject([row])
  })

  test('counts cached tokens at their own price, for an agent and for a function (15.3.3)', async () => {
    const details = { cached_tokens: 80 }
    const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, prompt_tokens_details: details }
    acts.set('cached', says({ text: 'Hello.', usage }))
    const ask = fn(
      'ask',
      {},
      async ({ step }) => (await step.execute('ask', { type: 'llm', task: { prompt: 'Go on.' } })).result,
    )
    const parts = { agents: [asker()], functions: [ask] }
    // 20 at 1, 80 at 0.1, 20 at 5.
    for (const handler of ['asker', 'ask'])
      expect((await play(parts, ['cached'], handler)).costs).toMatchObject([{ model: 'cached', cost_usd: 0.000128 }])
  })

  test('is stored as unverified if only the provider reports it (15.3.3)', async () => {
    const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, cost: 0.02 }
    acts.set('unpriced', says({ text: 'Hello.', usage }))
    const ask = fn(
      'ask',
      {},
      async ({ step }) => (await step.execute('ask', { type: 'llm', task: { prompt: 'Go on.' } })).result,
    )
    const parts = { agents: [asker()], functions: [ask] }
    for (const handler of ['asker', 'ask']) {
      const { costs, total } = await play(parts, ['unpriced'], handler)
      expect(costs).toMatchObject([{ model: 'unpriced', cost_usd: null, unpriced_calls: 1, unverified_usd: 0.02 }])
      expect(moneyText(total)).toBe('unknown for 1 call ($0.0200 reported, unverified)')
    }
  })
})

describe('an answer', () => {
  test.each([
    ['in a fence with prose around it', 'Sure! Here it is:\n```json\n{"n": 7}\n```\nAnything else?'],
    ['as one object in prose', 'The answer is {"n": 7}, as far as I can tell.'],
    ['after a byte order mark', '\uFEFF{"n": 7}'],
  ])('in JSON %s is read without a paid repair call (15.3.3)', async (_, text) => {
    acts.set('talks', says(text))
    const before = provider.callsOf('talks').length
    const { run } = await play({ agents: [asker({ outputSchema: ANSWER })] }, ['talks'])
    expect(run).toMatchObject({ status: 'success', output: { n: 7 } })
    expect(provider.callsOf('talks').length - before).toBe(1)
  })

  test.each<[string, Act, string, RegExp]>([
    ['that is empty', says({ text: '' }), 'MODEL_BAD_RESPONSE', /the answer is empty: it has no text/],
    [
      'that is a web page',
      sends(200, { 'content-type': 'text/html' }, PAGE),
      'MODEL_BAD_RESPONSE',
      /answered with a web page instead of a model answer; check base_url/,
    ],
  ])('%s fails with an error that says so (15.3.3)', async (_, act, code, sentence) => {
    acts.set('odd', act)
    const { run } = await play({ agents: [asker()] }, ['odd'])
    expect(run).toMatchObject({ status: 'failed', error: { code, message: expect.stringMatching(sentence) } })
  })

  test('whose stream reports no usage is counted by its length, and the step says so (15.3.3)', async () => {
    acts.set('silent', says({ text: 'Hello.', usage: null }))
    const { run, costs, notes } = await play({ agents: [asker()] }, ['silent'])
    expect(notes).toEqual(['The provider does not say how many tokens it used: they are counted by length.'])
    expect(run.status).toBe('success')
    expect(costs[0].output_tokens).toBeGreaterThan(0)
  })
})

describe('a configured model', () => {
  const manifest = (models: string): string => `product: { name: home }
defaults:
  model: home
  models:
${models}
events: { definitions: [{ name: mail.came }] }
agents:
  - { name: asker, trigger: mail.came, prompt: answer.md }
`
  const fromYaml = async (models: string, work: (app: HttpApp) => Promise<void>): Promise<void> => {
    const app = await openApp({ ...systemOf(manifest(models)), folder })
    await work(app).finally(() => app.close())
  }

  test('is live without any API key if the manifest gives its base_url (15.3.2)', () =>
    fromYaml(`    home: { id: qwen, provider: openai-compatible, base_url: ${provider.url} }`, async (app) => {
      const run = await app.when(await app.started('mail.came'), 'success')
      expect(run).toMatchObject({ status: 'success', output: 'Hello.' })
      expect(provider.callsOf('qwen').at(-1)?.headers).not.toHaveProperty('authorization')
      const { body } = await app.ask('/health')
      expect(body).toMatchObject({ simulated: false, simulated_because: null })
    }))

  test.each([
    ['home: claude-opus-5', {}, 'home: ANTHROPIC_API_KEY is not set'],
    ['home: { id: llama, provider: groq }', {}, 'home: GROQ_API_KEY is not set'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference, as manifests write it
    ['home: { id: llama, base_url: "${NOWHERE}/v1" }', {}, 'home: ${NOWHERE} is not set'],
    [
      'home: claude-opus-5',
      { TRIHAND_MODELS: 'simulated', ANTHROPIC_API_KEY: 'k' },
      'home: TRIHAND_MODELS is simulated',
    ],
  ])('is simulated only for a reason that the server reports: %s %j (15.3.2)', async (models, environment, because) => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    await fromYaml(`    ${models}`, async (app) => {
      const { body } = await app.ask('/health')
      expect(body).toMatchObject({ simulated: true, simulated_because: because })
    })
  })
})
