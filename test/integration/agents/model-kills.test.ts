/**
 * Kills a server while its models misbehave, and restarts it: no received answer is paid for twice, and none is lost.
 *
 * Uses the published command with a ledger in a file and SIGKILL by process id; the provider runs in this process and counts.
 */
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  type Act,
  framesOf,
  inTurn,
  PROTOCOLS,
  type Provider,
  refuses,
  says,
  startProvider,
  USED,
} from '#test/support/agents/model-provider.ts'
import { buildCommand, Folder } from '#test/support/serving/command.ts'
import { until } from '#test/support/until.ts'

beforeAll(buildCommand, 120_000)

const begins: Act = (exchange) => {
  exchange.response.writeHead(200, { 'content-type': 'text/event-stream' })
  const frames = framesOf(exchange, { text: 'Fine, and '.repeat(2_000) })
  exchange.response.write(frames.slice(0, -4).join(''))
}

/** The behaviour of the model in the second call, before the server dies. */
const MIDDLES: Readonly<Record<string, Act>> = {
  'never begins': () => {},
  'stops in the middle': begins,
  'is asked too often': refuses(429, 'slow down', { 'retry-after': '2' }),
  'is away': refuses(503),
}
const NAMES = Object.keys(MIDDLES)
const AGENTS = PROTOCOLS.flatMap((protocol, p) => NAMES.map((_, i) => ({ protocol, id: `m${p}-${i}` })))

const manifest = (url: string): string => `product: { name: kills }
defaults:
  models:
${AGENTS.map(({ protocol, id }) => `    ${id}: { id: ${id}, provider: ${protocol}, base_url: ${url} }`).join('\n')}
events: { definitions: [{ name: mail.came }] }
agents:
${AGENTS.map(({ id }) => `  - { name: ${id}, trigger: mail.came, prompt: answer.md, config: { model: ${id}, allowed_tools: [Glob] } }`).join('\n')}
`

const signal = () => {
  let resolve = (): void => {}
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

let folder: Folder
let provider: Provider
/** The models whose good last answer a live client received. */
let answered: string[] = []
/** Settles when the first server is dead: until then no last answer is given. */
let dead = signal()

const lastAnswer: Act = async (exchange) => {
  await dead.promise
  if (exchange.response.destroyed) return
  answered.push(exchange.model)
  // Too long for a fact: the fact contains only the usage, and the ledger must still be valid.
  await says('Fine. '.repeat(20_000))(exchange)
}

beforeEach(async () => {
  answered = []
  dead = signal()
  folder = new Folder()
  provider = await startProvider((model) => {
    const middle = MIDDLES[NAMES[Number(model.split('-')[1])] ?? ''] ?? says('?')
    return inTurn(says({ calls: [{ name: 'Glob', input: { pattern: '*' } }] }), middle, lastAnswer)
  })
  folder.write('manifest.yaml', manifest(provider.url))
  folder.write('answer.md', 'Answer.')
})
afterEach(async () => {
  await provider.close()
  await folder.remove()
})

// biome-ignore lint/suspicious/noExplicitAny: a test looks into any document without ceremony
const get = async (url: string): Promise<any> => (await fetch(url)).json()

test('a server that dies while its models misbehave pays no answer twice and loses none (15.3.4)', async () => {
  const env = { TRIHAND_MODELS: 'live' }
  const first = await folder.serve(['dev', '--port', '0'], { env })
  await fetch(`${first.url}/api/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ type: 'mail.came', data: {} }),
  })
  const inMiddle = (): number => AGENTS.filter(({ id }) => provider.callsOf(id).length >= 2).length
  await until(inMiddle, (count) => count === AGENTS.length, { timeoutMs: 20_000, what: 'every second call is made' })
  await first.kill()
  dead.resolve()
  const second = await folder.serve(['dev', '--port', '0'], { env })
  const runs = () => get(`${second.url}/api/runs?limit=50`)
  const isOver = ({ status }: { readonly status: string }): boolean =>
    !['queued', 'running', 'waiting', 'retrying'].includes(status)
  const { items } = await until(runs, (page) => page.items.length === AGENTS.length && page.items.every(isOver), {
    ...{ timeoutMs: 30_000, what: 'all runs are over' },
  })
  expect(items.map(({ status }: { readonly status: string }) => status)).toEqual(AGENTS.map(() => 'success'))
  for (const { id } of AGENTS) {
    // The first answer was received and is never requested again. The interrupted call is requested again after the server has died.
    const firsts = provider.callsOf(id).filter(({ turn }) => turn === 0).length
    expect([id, firsts, answered.filter((model) => model === id).length]).toEqual([id, 1, 1])
  }
  const { total } = await get(`${second.url}/api/costs`)
  expect(total.calls - total.failed_calls).toBe(2 * AGENTS.length)
  expect(total.input_tokens).toBe(USED.input * 2 * AGENTS.length)
  await second.stop()
  expect((await folder.run(['verify'])).code).toBe(0)
}, 90_000)
