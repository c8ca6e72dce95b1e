/** The simulated model: answers from its scripts only, and the same every time. */
import { describe, expect, test } from 'vitest'
import { TrihandError } from '#model/kernel/errors.ts'
import type { Json } from '#model/kernel/json.ts'
import type { Message, ModelReply, ModelRequest } from '#ports/model.ts'
import { MODEL_SUITE, type ModelScenario, modelSuite } from '#testing/model-suite.ts'
import { ScriptedModel } from './scripted.ts'

const SCRIPTS: Readonly<Record<ModelScenario, readonly Json[]>> = {
  says: [{ say: MODEL_SUITE.text }],
  json: [{ json: MODEL_SUITE.json }],
  calls: [
    { turn: 1, calls: MODEL_SUITE.inputs.map((input) => ({ tool: 'Read', input })) },
    { after: 'Read', say: MODEL_SUITE.text },
  ],
  fails: [{ say: 'never', fail_first: { attempts: 1_000, code: 'MODEL_UNAVAILABLE' } }],
  hangs: [{ hang: true }],
}

modelSuite('scripted', (scenario) => {
  const model = new ScriptedModel(new Map([['suite', { answers: SCRIPTS[scenario] as Json }]]))
  return Promise.resolve({
    model,
    name: { alias: 'any', provider: 'simulated', id: 'any' },
    performed: () => null,
    close: async () => {},
  })
})

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })
const request = (messages: readonly Message[], attempt = 1): ModelRequest => ({
  purpose: 'agent:composer',
  model: { alias: 'any', provider: 'simulated', id: 'any' },
  system: 's',
  messages,
  tools: [],
  output: null,
  maxOutputTokens: 100,
  temperature: null,
  attempt,
})
const ask = (answers: Json, messages: readonly Message[], attempt = 1): Promise<ModelReply> =>
  new ScriptedModel(new Map([['composer', { answers }]])).call(request(messages, attempt), new AbortController().signal)

describe('answers', () => {
  test('the first entry whose conditions all hold is used, with the groups of its pattern', async () => {
    const answers = [
      { contains: ['refund', 'urgent'], say: 'both' },
      { match: 'refund (\\d+)', say: 'I refund {{ m[1] }}.' },
      { say: 'something else' },
    ]
    expect(await ask(answers, [user('refund 12 please')])).toMatchObject({ parts: [{ text: 'I refund 12.' }] })
    expect(await ask(answers, [user('urgent refund 12')])).toMatchObject({ parts: [{ text: 'both' }] })
    expect(await ask(answers, [user('hello')])).toMatchObject({ parts: [{ text: 'something else' }] })
  })

  test('it fails as often as the script says, by the attempt number alone', async () => {
    const answers = [{ say: 'at last', fail_first: { attempts: 2, code: 'RATE_LIMITED' } }]
    expect(await ask(answers, [user('x')], 2)).toMatchObject({ kind: 'failed', code: 'RATE_LIMITED' })
    expect(await ask(answers, [user('x')], 3)).toMatchObject({ kind: 'reply', simulated: true })
  })

  test('a template reads the result of a tool without the data block around it', async () => {
    const output = '<data id="k1" source="Read">\n{"name":"Ana"}\n</data id="k1">'
    const result: Message = { role: 'tool', parts: [{ type: 'result', id: '1', tool: 'Read', output, isError: false }] }
    const answers = [{ after: 'Read', say: 'Dear {{ result.name }}' }]
    expect(await ask(answers, [user('x'), result])).toMatchObject({ parts: [{ text: 'Dear Ana' }] })
  })

  test('scripted-1: a request that matches no entry fails, and the failure shows an entry to paste', async () => {
    const reply = await ask([{ turn: 7, say: 'late' }], [user('who are you?')])
    expect(reply).toMatchObject({ kind: 'failed', code: 'SIMULATED_NO_SCRIPT' })
    expect((reply as { detail: string }).detail).toMatch(
      /agent composer, turn 1[\s\S]*who are you\?[\s\S]*- turn: 1\n {2}say:/,
    )
  })

  test('a template that reads an absent value fails the call', async () => {
    expect(await ask([{ say: '{{ result.name }}' }], [user('x')])).toMatchObject({ code: 'SIMULATED_NO_SCRIPT' })
  })
})

test.each<[string, Json]>([
  ['no answers', {}],
  ['two ways to say', { answers: [{ say: 'a', json: {} }] }],
  ['no way to say', { answers: [{ turn: 1 }] }],
  ['an unknown key', { answers: [{ says: 'a' }] }],
  ['a pattern that cannot be read', { answers: [{ match: '(', say: 'a' }] }],
  ['a template that cannot be read', { answers: [{ say: '{% if %}' }] }],
  ['an entry that is never reached', { answers: [{ say: 'a' }, { turn: 2, say: 'b' }] }],
  ['a code that nobody knows', { answers: [{ say: 'a', fail_first: { attempts: 1, code: 'NOPE' } }] }],
])('SCRIPT_INVALID: %s', (_, script) => {
  const parse = (): unknown => new ScriptedModel(new Map([['composer', script]]))
  expect(parse).toThrow(TrihandError)
  expect(parse).toThrow(/SCRIPT_INVALID: script of composer/)
})
