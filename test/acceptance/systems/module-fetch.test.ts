/** What functions of a module may call over HTTP: `step.fetch` and the global `fetch` of their code, against a real server. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import type { Step } from '#executors/workflow/step-api.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { until } from '#test/support/until.ts'
import { startTestSystem, type TestSystem } from '#testing/system.ts'

const HERE = '127.0.0.1'
const server = createServer((request, response) => {
  hits.push({ path: request.url ?? '', method: request.method ?? '', headers: request.headers })
  request.resume()
  answer(response, hits.length)
})
let hits: { path: string; method: string; headers: IncomingHttpHeaders }[] = []
let answer: (response: ServerResponse, hit: number) => void
let port = 0

beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, HERE, done))
  port = (server.address() as AddressInfo).port
})
beforeEach(() => {
  hits = []
  answer = (response) => response.writeHead(200, { 'x-a': 'b' }).end('hello')
})
afterAll(() => {
  server.close()
  server.closeAllConnections()
})

const at = (host: string, path = '/'): string => `http://${host}:${port}${path}`
/** Names that end in .test resolve to this machine, which plays the outside world; home.test is in the local network. */
const outside = () => ({
  ports: [port],
  network: {
    resolve: async (host: string) => [host === 'home.test' ? '10.0.0.1' : HERE],
    mayReach: (address: string) => address === HERE,
  },
})

const allow = { operations: ['api_call'], hosts: ['good.test', '*.good.test', 'home.test'] }
/** Captured when the file was loaded, as a client of a package would. */
let kept: typeof fetch = (...call) => fetch(...call)

interface Asked {
  readonly how: 'step' | 'global' | 'in a step' | 'kept' | 'after a while'
  readonly url: string
  readonly method?: string
}

const call = async ({ how, url, method = 'GET' }: Asked, step: Step) => {
  const said = async (response: Response) => ({ status: response.status, text: await response.text() })
  switch (how) {
    case 'step':
      return step.fetch('ask', url, { method, retry: { maxAttempts: 1 }, timeout: '1d' })
    case 'global':
      return said(await fetch(url, { method }))
    case 'in a step':
      return step.run('ask', async () => said(await fetch(url, { method })), {
        retry: { maxAttempts: 1 },
        timeout: '1d',
      })
    case 'kept':
      return said(await kept(url, { method }))
    case 'after a while': {
      await step.sleep('a while', '1s')
      return said(await fetch(new Request(url, { method })))
    }
  }
}

const once = { retry: { maxAttempts: 1 } }
const SYSTEM = {
  name: 'calls',
  modules: [
    { name: 'shop', functions: ['sell'], allow },
    { name: 'shut', functions: ['hide'] },
    { name: 'mute', functions: ['hush'], allow: { hosts: ['*'] } },
  ],
  functions: [
    fn<Asked>('sell', once, ({ input, step }) => call(input, step)),
    fn<Asked>('hide', once, ({ input, step }) => call(input, step)),
    fn<Asked>('hush', once, ({ input, step }) => call(input, step)),
    fn<Asked>('free', once, ({ input, step }) => call(input, step)),
    fn<Asked>('plain', { ...once, allowedOperations: ['transform'] }, ({ input, step }) => call(input, step)),
    fn<Asked>('pay', once, ({ step, input }) =>
      step.fetch('pay', input.url, { method: 'POST', json: { a: 1 }, retry: { maxAttempts: 3 }, timeout: '1d' }),
    ),
    fn<Asked>('pay-once', { ...once, module: 'shop' }, ({ step, input }) =>
      step.fetch('pay', input.url, { method: 'POST', effect: 'once', timeout: '1d' }),
    ),
  ],
}

onEveryStore('modules that call others', (store) => {
  const ended = async (system: TestSystem, name: string, input: Asked): Promise<string> => {
    const run = await system.start(name, input)
    await until(
      async () => {
        await system.advance('1s')
        return (await system.look(run)).status
      },
      (status) => ['success', 'failed'].includes(status),
    )
    const { output, error } = await system.look(run)
    return error === null ? JSON.stringify(output) : `${error.code}: ${error.message}`
  }
  const play = async (name: string, input: Asked): Promise<string> => {
    const system = await startTestSystem(SYSTEM, store(), { code: { outside: outside() } })
    const said = await ended(system, name, input)
    await system.close()
    return said
  }

  test('function-fetch-2: [N9] step.fetch and fetch in code of a module reach only the hosts that it allows (15.2)', async () => {
    const system = await startTestSystem(SYSTEM, store(), { code: { outside: outside() } })
    kept = globalThis.fetch
    const outcome = (name: string, input: Asked) => ended(system, name, input)
    for (const how of ['step', 'global', 'in a step', 'kept', 'after a while'] as const) {
      answer = (response) => response.writeHead(200, { 'x-a': 'b' }).end('hello')
      hits = []
      expect(await outcome('sell', { how, url: at('good.test') }), how).toContain('hello')
      expect(await outcome('sell', { how, url: at('api.good.test') }), how).toContain('hello')
      expect(hits, how).toHaveLength(2)
      const denied = 'module shop may not use host evil.test'
      expect(await outcome('sell', { how, url: at('evil.test') }), how).toContain(denied)
      expect(await outcome('sell', { how, url: at('EVIL.test.') }), how).toContain(denied)
      expect(await outcome('sell', { how, url: at('home.test') }), how).toContain('not a public address')
      expect(await outcome('sell', { how, url: 'file:///etc/passwd' }), how).toMatch(
        /neither http: nor|may not use host/,
      )
      expect(await outcome('hide', { how, url: at('good.test') }), how).toContain(
        'module shut may not use operation api_call',
      )
      expect(await outcome('hush', { how, url: at('good.test') }), how).toContain(
        'module mute may not use operation api_call',
      )
      expect(hits, how).toHaveLength(2)
      answer = (response) => response.writeHead(302, { location: at('evil.test', '/gone') }).end()
      expect(await outcome('sell', { how, url: at('good.test') }), how).toContain(denied)
      expect(
        hits.map(({ path }) => path),
        how,
      ).not.toContain('/gone')
    }
    await system.close()
  })

  test('function-fetch-1: the code of the host and of functions without a module keeps the original fetch (15.2)', async () => {
    expect(await play('free', { how: 'global', url: at(HERE) })).toContain('hello')
    const whileAtWork = await fetch(at(HERE))
    expect(await whileAtWork.text()).toBe('hello')
    const before = globalThis.fetch
    const mine: typeof fetch = async () => new Response('mine')
    globalThis.fetch = mine
    expect(globalThis.fetch).toBe(mine)
    expect(await play('sell', { how: 'global', url: at('evil.test') })).toContain('MODULE_DENIED')
    expect(await (await fetch(at(HERE))).text()).toBe('mine')
    globalThis.fetch = before
    expect(await (await fetch(at(HERE))).text()).toBe('hello')
  })

  test('a function without a module may call any host except those of the local network, if it may call at all (15.2)', async () => {
    expect(await play('free', { how: 'step', url: at('any.test') })).toContain('hello')
    expect(await play('free', { how: 'step', url: at('home.test') })).toContain('URL_BLOCKED')
    expect(await play('plain', { how: 'step', url: at('any.test') })).toContain('OPERATION_NOT_ALLOWED')
  })

  test('step.fetch records its answer, sends one key with every attempt and retries temporary failures (15.2)', async () => {
    answer = (response, hit) => response.writeHead([503, 429, 201][hit - 1] ?? 500).end('made')
    expect(await play('pay', { how: 'step', url: at('good.test') })).toContain('"status":201')
    expect(hits.map(({ headers }) => headers['content-type'])).toEqual(Array(3).fill('application/json'))
    expect(new Set(hits.map(({ headers }) => headers['idempotency-key'])).size).toBe(1)
    expect(hits[0]?.headers['idempotency-key']).toMatch(/./)
    answer = (response) => response.writeHead(404).end('nothing')
    hits = []
    expect(await play('sell', { how: 'step', url: at('good.test') })).toContain('"status":404')
    expect(hits[0]?.headers['idempotency-key']).toBeUndefined()
  })

  test('what a module forbids is refused before a once request is intended (15.2)', async () => {
    expect(await play('pay-once', { how: 'step', url: at('evil.test') })).toContain('MODULE_DENIED')
    expect(hits).toEqual([])
  })
})
