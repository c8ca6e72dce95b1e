/** The live stream of one run, over the real application: facts with positions, model output in progress without. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { agent } from '#manifest/define/agents.ts'
import { type HeldModel, heldModel } from '#test/support/agents/held-model.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { readSse, type SseMessage } from '#test/support/sse.ts'

let app: HttpApp
let model: HeldModel
beforeEach(async () => {
  model = heldModel()
  const writer = agent('writer', { instructions: 'Write.', trigger: 'go', limits: { maxRetries: 1 } })
  app = await openApp({ name: 'press', events: { go: null }, agents: [writer] }, undefined, {
    agents: { models: model },
  })
})
afterEach(() => app.close())

const open = (run: string, headers: Record<string, string> = {}): Promise<Response> =>
  app.open(`/api/runs/${run}/stream`, { headers })

interface Delta {
  readonly step: string
  readonly at: number
  readonly text: string
}

/** Puts the text chunks together, step by step. */
const textOf = (messages: readonly SseMessage[]): string => {
  const texts = new Map<string, string>()
  for (const { event, data } of messages) {
    if (event !== 'delta') continue
    const { step, at, text } = JSON.parse(data ?? '') as Delta
    texts.set(step, (texts.get(step) ?? '').slice(0, at) + text)
  }
  return [...texts.values()].at(-1) ?? ''
}

/** Reads until the condition holds. */
const readTo = async (
  stream: AsyncGenerator<SseMessage>,
  holds: (seen: readonly SseMessage[]) => boolean,
): Promise<readonly SseMessage[]> => {
  const seen: SseMessage[] = []
  for (let next = await stream.next(); next.done !== true; next = await stream.next()) {
    seen.push(next.value)
    if (holds(seen)) break
  }
  return seen
}
const toEnd = (stream: AsyncGenerator<SseMessage>) => readTo(stream, () => false)

test('[F3] a reader receives the answer while the model writes it, and then the facts', async () => {
  const run = await app.started('go')
  const call = await model.call(1)
  const stream = readSse(await open(run))
  call.say('Dear ')
  call.say('Ana')
  await readTo(stream, (seen) => textOf(seen) === 'Dear Ana')
  call.end('.')
  const rest = await toEnd(stream)
  expect(rest.filter(({ event }) => event === 'delta').every(({ id }) => id === null)).toBe(true)
  expect(rest.find(({ event, data }) => event === 'step.completed' && data?.includes('Dear Ana.'))?.id).toMatch(/^\d+$/)
  expect(rest.at(-1)).toMatchObject({ event: 'end', data: '{"status":"success"}' })
})

test('[F3] token-stream-1: a reader that joins during an answer receives the text so far, and nothing twice', async () => {
  const run = await app.started('go')
  const call = await model.call(1)
  call.say('Dear ')
  const first = readSse(await open(run))
  const second = readSse(await open(run))
  call.say('Ana')
  await readTo(first, (seen) => textOf(seen) === 'Dear Ana')
  const third = readSse(await open(run))
  const all = Promise.all([second, third].map((stream) => readTo(stream, (seen) => textOf(seen) === 'Dear Ana.')))
  call.say('.')
  const heard = await all
  expect(heard.map(textOf)).toEqual(['Dear Ana.', 'Dear Ana.'])
  call.end()
  await toEnd(first)
})

test('[F3] run-stream-1: a reader that resumes at any fact receives each later one once', async () => {
  const run = await app.started('go')
  ;(await model.call(1)).end('Hello.')
  const whole = (await toEnd(readSse(await open(run)))).filter(({ id }) => id !== null)
  expect(whole.length).toBeGreaterThan(3)
  for (const [i, { id }] of whole.entries()) {
    const rest = (await toEnd(readSse(await open(run, { 'last-event-id': id ?? '' })))).filter(
      ({ id: own }) => own !== null,
    )
    expect(rest).toEqual(whole.slice(i + 1))
  }
})

test('a model call that is retried begins its text again', async () => {
  const run = await app.started('go')
  const stream = readSse(await open(run))
  const broken = await model.call(1)
  broken.say('Dear An')
  await readTo(stream, (seen) => textOf(seen) === 'Dear An')
  broken.fail({ code: 'MODEL_UNAVAILABLE', detail: 'cut off' })
  const again = await model.call(2)
  again.end('Dear Ana')
  const rest = await toEnd(stream)
  expect(textOf(rest)).toBe('Dear Ana')
})

test('[F3] a cancel aborts the call at once, and the stream ends with the run', async () => {
  const run = await app.started('go')
  const call = await model.call(1)
  const stream = readSse(await open(run))
  call.say('Dear ')
  await readTo(stream, (seen) => textOf(seen) === 'Dear ')
  await app.post(`/api/runs/${run}/cancel`, {})
  const rest = await toEnd(stream)
  expect(call.signal.aborted).toBe(true)
  expect(rest.at(-1)).toMatchObject({ event: 'end', data: '{"status":"cancelled"}' })
  expect(model.calls.length).toBe(1)
})

test('an invalid position and an unknown run are refused before the stream begins', async () => {
  const run = await app.started('go')
  expect((await open(run, { 'last-event-id': 'x' })).status).toBe(400)
  expect((await open('run_00')).status).toBe(404)
  ;(await model.call(1)).end('x')
})
