/** The outcome of each modality has the same members in events, over HTTP and in TypeScript. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { agent } from '#manifest/define/agents.ts'
import { human } from '#manifest/human/humans.ts'
import type { Json } from '#model/kernel/json.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { until } from '#test/support/until.ts'

const HUMAN = ['decided_at', 'decided_by', 'decision', 'feedback', 'modifications']
const AGENT = ['artifacts', 'duration_ms', 'structured_output', 'token_usage']
const WORKFLOW = ['db_writes', 'duration_ms', 'emitted_events', 'result']
const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

const TOLD = [
  { event: 'workflow.completed', filter: 'payload.handler == "book"' },
  'agent.completed',
  'human.decided',
  'letter.refused',
]
const told = new Map<string, { readonly [name: string]: Json }>()
let app: HttpApp

beforeEach(async () => {
  told.clear()
  app = await openApp({
    name: 'office',
    functions: [
      fn(
        'book',
        { emits: ['order.booked'], persist: [{ insert: 'orders', values: { id: '{{ payload.id }}' } }] },
        ({ input }) => ({ booked: input }),
      ),
      fn('hear', { triggers: TOLD }, ({ event }) => {
        if (event !== null) told.set(event.type, event.data as { readonly [name: string]: Json })
      }),
    ],
    agents: [agent('greeter', { instructions: 'Greet.' })],
    scripts: { greeter: { answers: [{ say: 'Hello' }] } },
    humans: [
      human('sign', { assign: 'user:ana', actions: ['approve', { name: 'reject', emitsEvent: 'letter.refused' }] }),
    ],
  })
})
afterEach(() => app.close())

const ana = { 'x-trihand-user': 'ana' }
const keys = (value: object | undefined | null): readonly string[] => Object.keys(value ?? {}).toSorted()

const heard = (...types: readonly string[]): Promise<unknown> =>
  until(
    async () => types.every((type) => told.has(type)),
    (all) => all,
    { what: `${types.join(' and ')} are heard` },
  )

const ended = async (handler: string, input: object) => {
  const { body: run } = await app.post('/api/runs', { name: handler, input })
  await app.when(run.id, 'success')
  const { body } = await app.ask(`/api/runs/${run.id}`)
  const { outcome } = await app.trihand.result(run.id)
  return { body, outcome }
}

/** The same names in camel case. */
const camel = (words: readonly string[]): readonly string[] =>
  words.map((word) => word.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())).toSorted()

test('[D1] a workflow ends with result, emitted_events, db_writes and duration_ms, in events, over HTTP and in code (13.1.7)', async () => {
  const { body, outcome } = await ended('book', { id: '7' })
  expect(keys(body.outcome)).toEqual(WORKFLOW)
  expect(body.outcome).toMatchObject({ result: { booked: { id: '7' } }, db_writes: [{ table: 'orders', key: '7' }] })
  expect(body.outcome.result).toEqual(body.output)
  const [sent] = body.outcome.emitted_events
  expect((await app.ask('/api/events?type=order.booked')).body.items).toMatchObject([{ id: sent }])
  expect(keys(outcome)).toEqual(camel(WORKFLOW))
  await heard('workflow.completed')
  expect(told.get('workflow.completed')).toMatchObject(body.outcome)
  expect(told.get('workflow.completed')).not.toHaveProperty('output')
})

test('[B5] an agent ends with structured_output, artifacts, token_usage and duration_ms, in events, over HTTP and in code (13.1.7)', async () => {
  const { body, outcome } = await ended('greeter', {})
  expect(keys(body.outcome)).toEqual(AGENT)
  expect(body.outcome).toMatchObject({ structured_output: 'Hello', artifacts: [] })
  expect(keys(body.outcome.token_usage)).toEqual(['input_tokens', 'output_tokens'])
  expect(body.outcome.token_usage.output_tokens).toBeGreaterThan(0)
  expect(keys(outcome)).toEqual(camel(AGENT))
  await heard('agent.completed')
  expect(told.get('agent.completed')).toMatchObject(body.outcome)
  for (const old of ['output', 'usage']) expect(told.get('agent.completed')).not.toHaveProperty(old)
})

test('[C14] a person ends with decision, modifications, feedback, decided_by and decided_at, in events, over HTTP and in code (13.1.7)', async () => {
  const { body: run } = await app.post('/api/runs', { name: 'sign', input: {} })
  await app.when(run.id, 'waiting')
  const [row] = (await app.ask('/api/tasks', { headers: ana })).body.items
  const { body: shown } = await app.ask(`/api/tasks/${row.id}`, { headers: ana })
  const decision = { action: 'reject', reason: 'too loud', shown_hash: shown.shown_hash }
  await app.post(`/api/tasks/${row.id}/decision`, decision, ana)
  await app.when(run.id, 'success')
  const { body } = await app.ask(`/api/runs/${run.id}`)
  const said = { decision: 'reject', modifications: null, feedback: 'too loud', decided_by: 'ana' }
  const whole = { ...said, decided_at: expect.stringMatching(ISO) }
  expect(body.outcome).toEqual(whole)
  expect(keys(body.outcome)).toEqual(HUMAN)
  const { decided_at } = body.outcome
  expect(body.output).toMatchObject({ ...said, decided_at })
  expect((await app.ask(`/api/tasks/${row.id}`, { headers: ana })).body.end).toMatchObject({ ...said, decided_at })
  const { body: done } = await app.ask('/api/tasks?status=closed&all=true', { headers: ana })
  expect(done.items[0]).toMatchObject({ decision: 'reject', decided_by: 'ana', decided_at })
  expect(keys((await app.trihand.result(run.id)).outcome)).toEqual(camel(HUMAN))
  await heard('human.decided', 'letter.refused')
  for (const event of ['human.decided', 'letter.refused']) {
    expect(told.get(event)).toMatchObject({ ...said, decided_at })
    expect(told.get(event)).not.toHaveProperty('reason')
  }
})
