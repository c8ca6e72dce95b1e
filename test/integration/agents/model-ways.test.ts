/**
 * Every way in which a model can misbehave, in both protocols, over real HTTP: how the run ends, its message, the number of calls and their
 * cost.
 *
 * One provider and one system per protocol; all runs start at once, so that those that wait do so in parallel.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { CostRow } from '#http/openapi/api.ts'
import { agent } from '#manifest/define/agents.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import type { ToolSource } from '#model/agent/tool-source.ts'
import { ERRORS, type ErrorCode } from '#model/kernel/errors.ts'
import { PROTOCOLS, type Protocol, type Provider, says, startProvider } from '#test/support/agents/model-provider.ts'
import { type End, WAYS, type Way } from '#test/support/agents/model-ways.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'

const PRICE = { input: 1, output: 5 }
const look: ToolSource = {
  name: 'look',
  effect: 'none',
  input: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
  run: () => 'seen',
}
const idOf = (index: number): string => `way-${index}`

const systemFor = (protocol: Protocol, url: string, folder: string): SystemSource => {
  const ids = [...WAYS.keys()].map(idOf)
  const place = protocol === 'anthropic' ? { provider: 'anthropic', baseUrl: url } : { provider: 'home', baseUrl: url }
  return {
    name: 'ways',
    folder,
    tools: [look],
    models: {
      default: 'spare',
      aliases: Object.fromEntries([...ids, 'spare'].map((id) => [id, { id, ...place }])),
      prices: Object.fromEntries([...ids, 'spare'].map((id) => [id, PRICE])),
    },
    agents: [
      agent('warm', { instructions: 'Answer.' }),
      ...WAYS.map(({ options = {} }, index) =>
        agent(idOf(index), {
          ...{ instructions: 'Answer.', model: idOf(index), allowedTools: ['look'] },
          ...options,
          limits: { maxRetries: 1, timeout: '50s', maxTokens: 200_000, ...options.limits },
        }),
      ),
    ],
  }
}

interface Played {
  readonly provider: Provider
  readonly app: HttpApp
  readonly runs: readonly string[]
}

/** Starts a run for every kind of misbehaviour of one protocol, in parallel. */
const begin = async (protocol: Protocol, folder: string): Promise<Played> => {
  const provider = await startProvider((model) => WAYS[Number(model.slice('way-'.length))]?.act ?? says('Fine.'))
  const app = await openApp(systemFor(protocol, provider.url, folder))
  const start = async (name: string): Promise<string> => (await app.post('/api/runs', { name, input: {} })).body.id
  // The first call loads the protocol's adapter, which must not count as time of a model.
  await app.when(await start('warm'), 'success')
  const runs: string[] = []
  for (const index of WAYS.keys()) runs.push(await start(idOf(index)))
  return { provider, app, runs }
}

let folder = ''
let played: Readonly<Record<Protocol, Played>>
/** Protocol and kind of the runs that ended as expected. */
const ended = new Set<string>()

beforeAll(async () => {
  for (const name of ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'TRIHAND_MODELS']) vi.stubEnv(name, '')
  folder = mkdtempSync(join(tmpdir(), 'trihand-ways-'))
  const [anthropic, compatible] = await Promise.all(PROTOCOLS.map((protocol) => begin(protocol, folder)))
  if (anthropic === undefined || compatible === undefined) throw new Error('there are two protocols')
  played = { anthropic, 'openai-compatible': compatible }
})
afterAll(async () => {
  await Promise.all(Object.values(played).map(({ app }) => app.close()))
  await Promise.all(Object.values(played).map(({ provider }) => provider.close()))
  rmSync(folder, { recursive: true, force: true })
  vi.unstubAllEnvs()
})

describe.each(PROTOCOLS)('over %s', (protocol) => {
  const endOf = ({ ends }: Way): End => ('status' in ends ? ends : ends[protocol])
  const rows = WAYS.map((way, index) => [way.name, way, index] as const)

  test.each(rows)('a model that %s ends its run as documented (15.3.4)', async (name, way, index) => {
    const { app, provider, runs } = played[protocol]
    const end = endOf(way)
    const run = await app.when(runs[index] ?? '', end.status)
    const { body: detail } = await app.ask(`/api/runs/${run.id}/step`)
    const spent: readonly CostRow[] = detail.spent
    const sum = (of: 'unpriced_calls' | 'calls' | 'cost_usd'): number =>
      spent.reduce((all, row) => all + (row[of] ?? 0), 0)
    const micros = Math.round(sum('cost_usd') * 1_000_000)
    const { code, message } = run.error ?? {}
    expect({ status: run.status, code, message, micros, unknown: sum('unpriced_calls') }).toMatchObject({
      ...{ status: end.status, code: end.code, unknown: end.unknown ?? 0 },
      micros: typeof end.micros === 'number' ? end.micros : expect.any(Number),
    })
    if (typeof end.micros === 'function') expect([micros, end.micros(micros)]).toEqual([micros, true])
    if (end.output !== undefined) expect(run.output).toEqual(end.output)
    if (end.says !== undefined) {
      // The message is a sentence with a remedy, without a stack trace or an HTML page.
      expect(message).toMatch(end.says)
      expect(ERRORS[code as ErrorCode].hint).toMatch(/\.$/)
      expect(message.length).toBeLessThan(700)
    }
    // The listed calls are exactly those that left the process.
    const asked = provider.callsOf(idOf(index)).length
    const spare = way.options?.fallbackModels === undefined ? 0 : 1
    expect([asked, sum('calls')]).toEqual([end.calls, end.calls + spare])
    ended.add(`${protocol} ${name}`)
  })
})

test('every kind of misbehaviour ends as documented in both protocols (15.3.4)', () => {
  console.info(`${ended.size} ways of models to misbehave have ended well`)
  expect([WAYS.length, ended.size]).toEqual([41, 82])
})
