/** The timeline of a run over HTTP, and its single steps, computed from the facts of real runs. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import type { Mark } from '#http/openapi/api.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'

let app: HttpApp

/** Results of steps as agents record them. */
const hydrated = { system: 'You weigh parcels.', tools: [{ name: 'scale', description: 'Weighs one.' }], ms: 2 }
const replied = (text: string, calls: readonly object[]) => ({
  kind: 'reply',
  reply: {
    ...{ modelUsed: 'acme-1', usage: { input: 100, output: 20 }, cost: { micros: 1_500 }, isSimulated: false, ms: 7 },
    ...{ parts: [{ type: 'text', text }], calls },
  },
})
const lost = { kind: 'failed', failure: { code: 'MODEL_TIMEOUT', detail: 'no answer' }, used: null, ms: 9, text: null }
const weighed = { output: { kg: 7 }, error: null, denied: null, ms: 3 }
const call = { key: '0.0', tool: 'scale', input: { parcel: 1 } }

beforeAll(async () => {
  app = await openApp({
    name: 'shop',
    events: { 'order.placed': null, 'order.paid': null },
    functions: [
      fn('weigh', {}, async ({ step }) => step.run('scale', () => 7)),
      fn('ship', { trigger: 'order.placed' }, async ({ step }) => {
        await step.invoke('weight', 'weigh', { parcel: 1 })
        await step.sleep('rest', '1ms')
        await step.waitForEvent('payment', { event: 'order.paid', match: 'payload.id', timeout: '1h' })
      }),
      fn('think', {}, async ({ step }) => {
        await step.run('agent/hydrate', () => hydrated)
        await step.run('agent/model', () => lost, { key: '0' })
        await step.run('agent/model', () => replied('Let me see.', [call]), { key: '0:2' })
        await step.run('agent/tool', () => weighed, { key: '0.0' })
        await step.run('agent/model', () => replied('Seven.', []), { key: '1' })
        await step.run('long', () => 'x'.repeat(100_000))
      }),
      fn('mend', { retry: { maxAttempts: 1 } }, async ({ step }) =>
        step.run('glue', () => Promise.reject(new Error('it broke')), { retry: { maxAttempts: 2, baseMs: 1 } }),
      ),
    ],
  })
})
afterAll(() => app.close())

const ended = async (name: string, status: string): Promise<string> => {
  const { body } = await app.post('/api/runs', { name, input: { order: 12 } })
  await app.when(body.id, status)
  return body.id
}

const stepOf = async (run: string, name: string) =>
  (await app.ask(`/api/runs/${run}/step?name=${encodeURIComponent(name)}`)).body

test('a timeline shows the state of each step, which run was called, and until when it sleeps', async () => {
  const run = await app.started('order.placed', { id: 'a' })
  await expect.poll(async () => (await app.ask(`/api/runs/${run}`)).body.waiting_on[0]?.kind).toBe('waiting')
  const { body } = await app.ask(`/api/runs/${run.slice(-8)}/timeline`)
  expect(body).toMatchObject({ id: run, handler: 'ship', status: 'waiting', next_cursor: null })
  expect(body.items.map(({ seq, step, becomes }: Mark) => [seq, step, becomes])).toEqual([
    [0, undefined, 'work'],
    [1, 'weight', 'child'],
    [2, 'weight', 'done'],
    [3, 'rest', 'sleep'],
    [4, 'rest', 'done'],
    [5, 'payment', 'event'],
  ])
  const [child] = (await app.ask(`/api/runs/${run}`)).body.children
  expect(body.items[1]).toMatchObject({ child: child.id, hand: 'workflow' })
  expect(body.items[3].until).toMatch(/^\d{4}-/)
  // A mark contains no values, because they may be long.
  expect(body.items.some((mark: object) => 'body' in mark)).toBe(false)
})

test('a timeline can be read on from a cursor, and an invalid cursor is refused', async () => {
  const run = await ended('weigh', 'success')
  const rest = (await app.ask(`/api/runs/${run}/timeline?cursor=1`)).body
  expect(rest.items.map(({ seq }: Mark) => seq)).toEqual([1, 2])
  expect((await app.ask(`/api/runs/${run}/timeline?cursor=3`)).body.items).toEqual([])
  const wrong = await app.ask(`/api/runs/${run}/timeline?cursor=x`)
  expect([wrong.status, wrong.body.code]).toEqual([400, 'CURSOR_INVALID'])
})

test('a model call is marked with the modality agent and its measured time, and a failed one with its code', async () => {
  const run = await ended('think', 'success')
  const { items } = (await app.ask(`/api/runs/${run}/timeline`)).body
  const models = items.filter(({ step }: Mark) => step?.startsWith('agent/model'))
  expect(models.map(({ hand, becomes, ms, code }: Mark) => [hand, becomes, ms, code])).toEqual([
    ['agent', 'failed', 9, 'MODEL_TIMEOUT'],
    ['agent', 'done', 7, undefined],
    ['agent', 'done', 7, undefined],
  ])
})

test('a step of a model shows its prompt, the tools it called and its cost', async () => {
  const run = await ended('think', 'success')
  const first = await stepOf(run, 'agent/model[0:2]')
  expect(first.tools).toEqual([{ tool: 'scale', input: { parcel: 1 }, step: 'agent/tool[0.0]', output: { kg: 7 } }])
  expect(first.spent).toEqual([
    expect.objectContaining({ model: 'acme-1', calls: 1, input_tokens: 100, output_tokens: 20, cost_usd: 0.0015 }),
  ])
  const { prompt } = await stepOf(run, 'agent/model[1]')
  expect(prompt).toEqual({
    system: 'You weigh parcels.',
    tools: [{ name: 'scale', description: 'Weighs one.' }],
    messages: [
      { role: 'user', content: { order: 12 } },
      { role: 'agent', content: 'Let me see.' },
      { role: 'agent', content: { tool: 'scale', input: { parcel: 1 } } },
      { role: 'tool', content: { kg: 7 } },
    ],
  })
  expect(await stepOf(run, 'agent/tool[0.0]')).toMatchObject({ input: { tool: 'scale', input: { parcel: 1 } } })
  expect((await stepOf(run, 'agent/model[0]')).error).toMatchObject({ code: 'MODEL_TIMEOUT', message: 'no answer' })
})

test('a run as a whole shows its input, its output and the cost of all its models; of a long value only its length', async () => {
  const run = await ended('think', 'success')
  const { body } = await app.ask(`/api/runs/${run}/step`)
  expect(body).toMatchObject({ run, step: null, input: { order: 12 }, error: null, prompt: null })
  // The failed attempt does not say how many tokens it used.
  const failed = { calls: 1, failed_calls: 1, cost_usd: null, unpriced_calls: 1 }
  expect(body.spent).toMatchObject([failed, { calls: 2, failed_calls: 0, cost_usd: 0.003 }])
  const long = await stepOf(run, 'long')
  expect([long.output, long.left_out.output]).toEqual([null, 100_002])
})

test('a failed step shows its code and hint; a step that called a run shows the input', async () => {
  const run = await ended('mend', 'failed')
  const { error } = await stepOf(run, 'glue')
  expect(error).toMatchObject({ message: expect.stringContaining('it broke'), hint: expect.stringMatching(/\.$/) })
  const { items } = (await app.ask(`/api/runs/${run}/timeline`)).body
  const glue = items.filter(({ step }: Mark) => step === 'glue')
  expect(glue.map(({ becomes }: Mark) => becomes)).toEqual(['retry', 'work', 'failed'])
  const parent = await app.started('order.placed', { id: 'b' })
  await expect.poll(async () => (await app.ask(`/api/runs/${parent}`)).body.waiting_on[0]?.kind).toBe('waiting')
  expect(await stepOf(parent, 'weight')).toMatchObject({ input: { parcel: 1 }, output: 7 })
  expect(await stepOf(parent, 'payment')).toMatchObject({ input: { types: ['order.paid'] }, output: null })
  expect((await app.ask(`/api/runs/${parent}/step`)).body.input).toEqual({ id: 'b' })
})

test('an unknown step is not found, with the nearest name as a suggestion', async () => {
  const run = await ended('weigh', 'success')
  const { status, body } = await app.ask(`/api/runs/${run}/step?name=scales`)
  expect([status, body.code]).toEqual([404, 'NOT_FOUND'])
  expect(body.detail).toContain('did you mean scale?')
})
