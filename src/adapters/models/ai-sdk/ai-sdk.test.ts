/** The conformance suite of the Model port for the AI SDK, over real HTTP to stubs of both providers. ai-sdk-traps has what it must not do. */
import { MODEL_SUITE, type ModelScenario, type ModelUnderTest, modelSuite } from '#testing/model-suite.ts'
import { startAnthropicStub } from '#testing/stubs/anthropic-stub.ts'
import type { ModelStub, StubBlock, StubBody, StubOptions } from '#testing/stubs/model-stub.ts'
import { startOpenAIStub } from '#testing/stubs/openai-stub.ts'
import { aiSdkModel } from './ai-sdk.ts'
import type { ModelSettings } from './settings.ts'

const CALLS: readonly StubBlock[] = MODEL_SUITE.inputs.map((input) => ({ type: 'call', name: 'Read', input }))
const TEXT: readonly StubBlock[] = [{ type: 'text', text: MODEL_SUITE.text }]

const script =
  (scenario: ModelScenario) =>
  (body: StubBody): readonly StubBlock[] => {
    if (scenario === 'json') return [{ type: 'text', text: JSON.stringify(MODEL_SUITE.json) }]
    return scenario === 'calls' && !JSON.stringify(body).includes('the file') ? CALLS : TEXT
  }

const FAULTS = { fails: [{ kind: 'status', status: 529 }], hangs: [{ kind: 'hang' }] } as const

const openOn =
  (start: (options: StubOptions) => Promise<ModelStub>, settings: Omit<ModelSettings, 'baseUrl'>) =>
  async (scenario: ModelScenario): Promise<ModelUnderTest> => {
    const faults = scenario === 'fails' || scenario === 'hangs' ? FAULTS[scenario] : []
    const stub = await start({ script: script(scenario), faults })
    return {
      model: aiSdkModel(() => ({ ...settings, baseUrl: stub.url })),
      name: { alias: 'default', provider: settings.provider, id: settings.id },
      performed: () => stub.calls.length,
      arrived: () => stub.arrived(1),
      close: () => stub.close(),
    }
  }

const ANTHROPIC = {
  provider: 'anthropic',
  protocol: 'anthropic',
  id: 'claude-sonnet-4-5',
  apiKey: 'key-of-the-test',
  api: 'chat',
  structured: true,
} as const
const OLD = { ...ANTHROPIC, id: 'claude-3-haiku-20240307' } as const
const OPENAI = { ...ANTHROPIC, provider: 'openai', protocol: 'openai', id: 'gpt-4.1' } as const
const LOCAL = { ...OPENAI, provider: 'local', protocol: 'openai-compatible', apiKey: null, structured: false } as const

const startResponses = (options: StubOptions): Promise<ModelStub> => startOpenAIStub({ ...options, responses: true })

modelSuite('anthropic', openOn(startAnthropicStub, ANTHROPIC))
modelSuite('anthropic, a model that answers in JSON through a tool', openOn(startAnthropicStub, OLD))
modelSuite('openai', openOn(startOpenAIStub, OPENAI))
modelSuite('openai, responses', openOn(startResponses, { ...OPENAI, api: 'responses' }))
modelSuite('openai-compatible', openOn(startOpenAIStub, LOCAL))
modelSuite('openai-compatible, with schemas', openOn(startOpenAIStub, { ...LOCAL, structured: true }))
