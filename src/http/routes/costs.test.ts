/** Costs over HTTP, computed from the facts of real runs. */
import { afterEach, expect, test } from 'vitest'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { agent, fn } from '../../index.ts'

let app: HttpApp
afterEach(() => app.close())

const reply = (provider: string, micros: number | null, isSimulated = false) => ({
  kind: 'reply',
  reply: { provider, modelUsed: `${provider}-1`, usage: { input: 100, output: 20 }, cost: { micros }, isSimulated },
})

/** A run with the same facts as agents write: a step with that name, and a reply as its result. */
const replies = [reply('acme', 1_500_000), reply('acme', 500_000), reply('newco', null), reply('script', 0, true)]

const open = async (): Promise<void> => {
  app = await openApp({
    name: 'shop',
    functions: [
      fn('writer', { trigger: 'go' }, async ({ step }) => {
        for (const [i, one] of replies.entries()) await step.run('agent/model', () => one, { key: String(i) })
        await step.run('other', () => ({ text: 'says "modelUsed":"x" and costs nothing' }))
        return step.run('long', () => ({ modelUsed: 'x' }))
      }),
    ],
  })
  await app.when(await app.started('go'), 'success')
}

const NONE_FAILED = { failed_calls: 0, unverified_usd: null }

test('tokens and dollars are summed by agent and model; unknown prices and simulated calls are listed separately', async () => {
  await open()
  const { status, body } = await app.ask('/api/costs?by=agent,model')
  expect(status).toBe(200)
  const row = { day: null, agent: 'writer', simulated: false, unpriced_calls: 0, unpriced_tokens: 0, ...NONE_FAILED }
  expect(body.items).toEqual([
    { ...row, model: 'acme-1', calls: 2, input_tokens: 200, output_tokens: 40, cost_usd: 2 },
    {
      ...row,
      ...{ model: 'newco-1', calls: 1, input_tokens: 100, output_tokens: 20, cost_usd: null },
      ...{ unpriced_calls: 1, unpriced_tokens: 120 },
    },
    { ...row, model: 'script-1', calls: 1, input_tokens: 100, output_tokens: 20, cost_usd: 0, simulated: true },
  ])
  expect(body.total).toMatchObject({ calls: 4, cost_usd: 2, unpriced_calls: 1 })
})

test('costs are grouped by day, within the requested days', async () => {
  await open()
  const { body } = await app.ask('/api/costs?by=day')
  const days = body.items.map(({ day }: { day: string }) => day)
  expect(days).toHaveLength(2)
  expect(days.every((day: string) => day >= body.from && day <= body.to)).toBe(true)
  const before = await app.ask('/api/costs?from=2020-01-01&to=2020-01-31')
  expect(before.body).toMatchObject({ items: [], total: { calls: 0, cost_usd: 0 } })
})

test('a run with an unknown price does not count into the cost of a run', async () => {
  await open()
  const { status, body } = await app.ask('/api/costs/runs')
  expect(status).toBe(200)
  expect(body).toMatchObject({ looked_at: 1, finished: 0, failed: 0, p50_usd: null, unpriced: 1, open: 0 })
})

test('completed runs give the cost per run, failed runs the wasted cost; simulated runs are left out', async () => {
  const paid = (trigger: string, micros: number, isSimulated = false) =>
    fn(`on-${trigger}`, { trigger, retry: { maxAttempts: 1 } }, async ({ step }) => {
      await step.run('agent/model', () => reply('acme', micros, isSimulated), { key: '1' })
      if (trigger === 'broken') throw new Error('no')
    })
  const functions = [
    paid('cheap', 1_000_000),
    paid('dear', 3_000_000),
    paid('broken', 500_000),
    paid('played', 0, true),
  ]
  app = await openApp({ name: 'shop', functions })
  for (const type of ['cheap', 'dear', 'played']) await app.when(await app.started(type), 'success')
  await app.when(await app.started('broken'), 'failed')
  const { body } = await app.ask('/api/costs/runs')
  expect(body).toMatchObject({ looked_at: 3, finished: 2, p50_usd: 1, p95_usd: 3, failed: 1, wasted_usd: 0.5 })
})

test.each(['by=week', 'from=yesterday', 'from=2026-02-01&to=2026-01-01', 'from=2020-01-01&to=2026-01-01'])(
  '%s is refused',
  async (query) => {
    await open()
    expect((await app.ask(`/api/costs?${query}`)).body.code).toBe('QUERY_UNKNOWN')
  },
)

test('an agent that ran with a simulated model is listed by its name and marked as simulated', async () => {
  app = await openApp({
    name: 'shop',
    agents: [agent('greeter', { triggers: ['go'], instructions: 'Greet.' })],
    scripts: { greeter: { answers: [{ say: 'Hello' }] } },
  })
  await app.when(await app.started('go'), 'success')
  const { body } = await app.ask('/api/costs')
  expect(body.items).toMatchObject([{ agent: 'greeter', simulated: true, calls: 1, cost_usd: 0 }])
  expect(body.items[0].input_tokens).toBeGreaterThan(0)
})
