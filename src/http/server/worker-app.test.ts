/** The routes of a process that only works. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { LOOPBACK } from '#http/access/auth-settings.ts'
import { chatWorld, decider } from '#test/support/agents/chat.ts'
import { temporaryFolder } from '#test/support/places.ts'
import { createWorkerApp } from './worker-app.ts'

let trihand: Trihand
let remove: () => void
const ending = new AbortController()

beforeEach(async () => {
  const { path, remove: gone } = temporaryFolder('worker-app')
  remove = gone
  const price = () => ({ micros: 7_000, model: 'm', source: 'test', approximate: false }) as const
  const agents = { models: decider(), workspaces: path, price }
  trihand = await createTrihand({ system: chatWorld().source, database: 'memory:', folder: path, drain: 0, agents })
})
afterEach(async () => {
  await trihand.close()
  remove()
})

const open = (auth = LOOPBACK) => {
  const app = createWorkerApp(trihand, {
    ...{ version: '1', pid: 7, report: () => {}, auth, ending: ending.signal },
    loopDelay: () => ({ p50Ms: 0, p99Ms: 0, maxMs: 0 }),
  })
  return async (path: string, token?: string) => {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const response = await app.request(`http://127.0.0.1${path}`, { headers })
    return { status: response.status, text: await response.text() }
  }
}

test('[I5] a worker serves health and metrics, and nothing else (13.2.6)', async () => {
  const ask = open()
  const paths = ['/health', '/health/live', '/health/ready', '/metrics', '/api/runs', '/']
  expect(await Promise.all(paths.map(async (path) => (await ask(path)).status))).toEqual([200, 200, 200, 200, 404, 404])
})

test('[I5] the work of a worker is counted: runs ended, steps, wake lag, tokens, cost (13.2.6)', async () => {
  const ask = open()
  const run = await trihand.chats.send({ chat: 'c', id: 'm', text: 'add them' })
  expect((await trihand.result(run, { wait: '20s' })).status).toBe('success')
  const { text } = await ask('/metrics')
  for (const series of ['runs_ended_total', 'steps_total', 'tokens_total', 'cost_usd_total', 'step_seconds_count'])
    expect(text).toMatch(new RegExp(`^trihand_${series}\\{.* [0-9.e-]*[1-9]`, 'm'))
  expect(text).toContain('# TYPE trihand_wake_lag_seconds histogram')
})

test('where a worker can be reached from outside, its metrics require a token and its health does not', async () => {
  const ask = open({ ...LOOPBACK, isRequired: true, metricsToken: 'scrape-me' })
  expect((await ask('/health')).status).toBe(200)
  expect((await ask('/metrics')).status).toBe(401)
  expect((await ask('/metrics', 'scrape-me')).status).toBe(200)
})
