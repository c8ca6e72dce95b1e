/**
 * The conformance suite for every Model: real or scripted, streamed or whole, it answers in the same shape and never throws.
 *
 * A model under test is opened for a scenario that fixes what it will say, or how it will fail.
 */
import { afterEach, describe, expect, test } from 'vitest'
import { ERRORS } from '#model/kernel/errors.ts'
import { toJson } from '#model/kernel/json.ts'
import type { Chunk, Message, Model, ModelAnswer, ModelName, ModelReply, ModelRequest } from '#ports/model.ts'

/**
 * `says`: answers with MODEL_SUITE.text. `json`: with MODEL_SUITE.json as text. `calls`: calls Read twice, with MODEL_SUITE.inputs, and
 * once the results are in says MODEL_SUITE.text. `fails`: every call fails. `hangs`: no call is ever answered.
 */
export type ModelScenario = 'says' | 'json' | 'calls' | 'fails' | 'hangs'

/** A model, prepared for one scenario. */
export interface ModelUnderTest {
  /** The model. */
  readonly model: Model
  /** The name under which it is called. */
  readonly name: ModelName
  /** How many calls have reached the provider; null where they are not counted. */
  readonly performed: () => number | null
  /** Settles when a call has reached the provider that never answers it. */
  readonly arrived?: () => Promise<void>
  /** Ends what serves it. */
  close(): Promise<void>
}

/** What the scenarios of the suite ask for and expect. */
export const MODEL_SUITE = {
  text: 'Hello from the model, in more than one piece: Grüße, 東京 🜁.',
  json: { subject: 'Hello', confidence: 0.92 },
  inputs: [{ file_path: 'a.md' }, { file_path: 'b.md' }],
} as const

const READ = {
  name: 'Read',
  description: 'Reads a file.',
  input: { type: 'object', properties: { file_path: { type: 'string' } }, required: ['file_path'] },
}
const SCHEMA = {
  type: 'object',
  properties: { subject: { type: 'string' }, confidence: { type: 'number' } },
  required: ['subject', 'confidence'],
  additionalProperties: false,
}
const QUESTION: Message = { role: 'user', parts: [{ type: 'text', text: 'What do you say?' }] }

const ask = (name: ModelName, over: Partial<ModelRequest> = {}): ModelRequest => ({
  purpose: 'agent:suite',
  model: name,
  system: 'You are under test.',
  messages: [QUESTION],
  tools: [],
  output: null,
  maxOutputTokens: 1_000,
  temperature: null,
  attempt: 1,
  ...over,
})

const isAnswer = (reply: ModelReply): reply is ModelAnswer => reply.kind === 'reply'

const answerOf = (reply: ModelReply): ModelAnswer => {
  if (!isAnswer(reply)) throw new Error(`the model failed: ${reply.code} ${reply.detail}`)
  return reply
}

const textOf = ({ parts }: ModelAnswer): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('')

const isCount = (value: number): boolean => Number.isInteger(value) && value >= 0

/** The conversation after the calls of an answer were performed. */
const afterCalls = (answer: ModelAnswer): readonly Message[] => [
  QUESTION,
  { role: 'assistant', parts: answer.parts },
  {
    role: 'tool',
    parts: answer.calls.map((call) => ({
      type: 'result',
      id: call.id,
      tool: call.tool,
      output: 'the file',
      isError: false,
    })),
  },
]

/** Defines the tests that every implementation of the port `Model` passes. */
export const modelSuite = (
  name: string,
  open: (scenario: ModelScenario) => Promise<ModelUnderTest>,
  { hangs = true }: { readonly hangs?: boolean } = {},
): void => {
  describe(`model ${name}`, () => {
    let opened: ModelUnderTest[] = []
    const start = async (scenario: ModelScenario): Promise<ModelUnderTest> => {
      const under = await open(scenario)
      opened.push(under)
      return under
    }
    afterEach(async () => {
      await Promise.all(opened.map((under) => under.close()))
      opened = []
    })
    const signal = new AbortController().signal

    describe.each([
      ['whole', false],
      ['streamed', true],
    ])('%s', (_, isStreamed) => {
      const stream = (tell: (delta: Chunk) => void = () => {}): Partial<ModelRequest> =>
        isStreamed ? { onChunk: tell } : {}

      test("answers with its text, the model's name and the usage", async () => {
        const { model, name: asked } = await start('says')
        const answer = answerOf(await model.call(ask(asked, stream()), signal))
        expect(textOf(answer)).toBe(MODEL_SUITE.text)
        expect(answer).toMatchObject({ finish: 'stop', calls: [] })
        expect(answer.modelUsed).not.toBe('')
        expect(Object.values(answer.usage ?? {}).every(isCount)).toBe(true)
      })

      test('its answer is plain JSON, so that the ledger stores it unchanged', async () => {
        const { model, name: asked } = await start('calls')
        const answer = await model.call(ask(asked, { tools: [READ], ...stream() }), signal)
        expect(JSON.parse(JSON.stringify(toJson(answer)))).toEqual(answer)
      })

      test('an answer for a schema is JSON text', async () => {
        const { model, name: asked } = await start('json')
        const answer = answerOf(await model.call(ask(asked, { output: SCHEMA, ...stream() }), signal))
        expect(JSON.parse(textOf(answer))).toEqual(MODEL_SUITE.json)
        expect(answer).toMatchObject({ finish: 'stop', calls: [] })
      })

      test('model-3: calls are returned in order, with their own ids, and are not performed', async () => {
        const { model, name: asked, performed } = await start('calls')
        const answer = answerOf(await model.call(ask(asked, { tools: [READ], ...stream() }), signal))
        expect(answer.calls.map(({ tool, input }) => ({ tool, input }))).toEqual(
          MODEL_SUITE.inputs.map((input) => ({ tool: 'Read', input })),
        )
        expect(new Set(answer.calls.map((call) => call.id)).size).toBe(2)
        expect(answer.parts.flatMap((part) => (part.type === 'call' ? [part.id] : []))).toEqual(
          answer.calls.map((call) => call.id),
        )
        expect(answer.finish).toBe('tools')
        expect([1, null]).toContain(performed())
      })

      test('continues once the results are in', async () => {
        const { model, name: asked } = await start('calls')
        const first = answerOf(await model.call(ask(asked, { tools: [READ], ...stream() }), signal))
        const second = ask(asked, { tools: [READ], messages: afterCalls(first), ...stream() })
        const before = JSON.stringify(second)
        expect(textOf(answerOf(await model.call(second, signal)))).toBe(MODEL_SUITE.text)
        expect(JSON.stringify(second)).toBe(before)
      })

      test('model-1: failure is a value with a code, and the call was made once', async () => {
        const { model, name: asked, performed } = await start('fails')
        const reply = await model.call(ask(asked, stream()), signal)
        if (isAnswer(reply)) throw new Error('it answered')
        expect(Object.keys(ERRORS)).toContain(reply.code)
        expect(reply.detail).not.toBe('')
        expect(JSON.parse(JSON.stringify(toJson(reply)))).toEqual(reply)
        expect([1, null]).toContain(performed())
      })

      test('model-2: a call that was aborted before it began fails, and reaches no provider', async () => {
        const { model, name: asked, performed } = await start('says')
        const reply = await model.call(ask(asked, stream()), AbortSignal.abort(new Error('enough')))
        expect(reply).toMatchObject({ kind: 'failed', code: 'STEP_ABORTED' })
        expect([0, null]).toContain(performed())
      })

      test.runIf(hangs)('model-2: a call that is never answered ends when it is aborted', async () => {
        const { model, name: asked, arrived } = await start('hangs')
        const abort = new AbortController()
        const reply = model.call(ask(asked, stream()), abort.signal)
        await arrived?.()
        abort.abort(new Error('enough'))
        expect(await reply).toMatchObject({ kind: 'failed', code: 'STEP_ABORTED' })
      })

      test.runIf(hangs)('model-2: a call that exceeded its time limit says so', async () => {
        const { model, name: asked, arrived } = await start('hangs')
        const abort = new AbortController()
        const reply = model.call(ask(asked, stream()), abort.signal)
        await arrived?.()
        abort.abort(new DOMException('30 s', 'TimeoutError'))
        expect(await reply).toMatchObject({ kind: 'failed', code: 'MODEL_TIMEOUT' })
      })
    })

    test('the streamed chunks add up to the answer', async () => {
      const { model, name: asked } = await start('says')
      const deltas: Chunk[] = []
      const answer = answerOf(await model.call(ask(asked, { onChunk: (delta) => deltas.push(delta) }), signal))
      expect(deltas.length).toBeGreaterThan(1)
      expect(deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join('')).toBe(textOf(answer))
    })

    test('streamed or whole, the answer is the same', async () => {
      const answers = await Promise.all(
        [{}, { onChunk: () => {} }].map(async (over) => {
          const { model, name: asked } = await start('calls')
          const { parts, calls, finish } = answerOf(await model.call(ask(asked, { tools: [READ], ...over }), signal))
          return { parts, calls, finish }
        }),
      )
      expect(answers[0]).toEqual(answers[1])
    })
  })
}
