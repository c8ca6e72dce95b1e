/** The typed client against a real server on a real socket, and against servers that break. */
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { createAdaptorServer } from '@hono/node-server'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import { createApp } from '#http/server/app.ts'
import { type Client, createClient, type News, TrihandError } from './client.ts'

let trihand: Trihand
let server: Server
let client: Client

const urlOf = (listening: Server): string => `http://127.0.0.1:${(listening.address() as AddressInfo).port}`

const open = async (made: Server): Promise<Server> => {
  await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve))
  return made
}

const shut = (open: Server): Promise<void> =>
  new Promise((resolve) => {
    open.close(() => resolve())
    open.closeAllConnections()
  })

beforeAll(async () => {
  trihand = await createTrihand({
    system: { name: 'shop', events: { go: null }, functions: [fn('work', { trigger: 'go' }, () => 'done')] },
    database: 'memory:',
  })
  const app = createApp(trihand, { version: '0', pid: 1, report: () => {} })
  const fetch = (request: Request) => app.fetch(request)
  server = await open(createAdaptorServer({ fetch, overrideGlobalObjects: false }) as Server)
  client = createClient({ url: `${urlOf(server)}/`, pauseMs: 1 })
})
afterAll(async () => {
  await shut(server)
  await trihand.close()
})

describe('a call', () => {
  test('sends its path, its parameters and its body', async () => {
    const { runs } = await client.call('sendEvent', { body: { type: 'go', data: { n: 1 } } })
    const [id = ''] = runs
    expect((await client.call('getRun', { path: { id } })).handler).toBe('work')
    const { items } = await client.call('listRuns', { query: { handler: 'work', limit: 1 } })
    expect(items.map((run) => run.id)).toEqual([id])
    expect((await client.call('getLiveness')).pid).toBe(1)
  })

  test('encodes path parameters, so that they cannot lead elsewhere', async () => {
    await expect(client.call('getRun', { path: { id: '../events' } })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test('throws a problem with its code, its status and its hint', async () => {
    const refused = client.call('startRun', { body: { name: 'nobody' } })
    await expect(refused).rejects.toBeInstanceOf(TrihandError)
    await expect(refused).rejects.toMatchObject({
      name: 'TrihandError',
      code: 'NOT_FOUND',
      status: 404,
      detail: 'there is no function nobody',
      hint: expect.stringMatching(/\.$/),
    })
  })
})

describe('a failing server', () => {
  /** Answers the first requests with the trouble and all others normally, and records their keys. */
  const troubled = async (times: number, trouble: RequestListener) => {
    const keys: (string | undefined)[] = []
    const listening = await open(
      createServer((request, response) => {
        keys.push(request.headers['idempotency-key'] as string | undefined)
        if (keys.length <= times) return trouble(request, response)
        return response.setHeader('content-type', 'application/json').end('{"id":"run_1"}')
      }),
    )
    const call = (): Promise<unknown> =>
      createClient({ url: urlOf(listening), pauseMs: 1 }).call('startRun', { body: { name: 'work' } })
    return { keys, call, close: () => shut(listening) }
  }

  const cut: RequestListener = (request) => request.socket.destroy()
  const atWork: RequestListener = (_, response) => response.writeHead(409, { 'retry-after': '0' }).end()
  const busy: RequestListener = (_, response) => response.writeHead(503).end()

  test.each([
    ['cuts the line', cut],
    ['is busy', busy],
    ['is at work on it in another process', atWork],
  ])('client-2: that %s three times is called a fourth time, under the same key', async (_, trouble) => {
    const { keys, call, close } = await troubled(3, trouble)
    expect(await call()).toEqual({ id: 'run_1' })
    await call()
    await close()
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
    expect(keys.slice(0, 4)).toEqual([keys[0], keys[0], keys[0], keys[0]])
    expect(keys[4]).not.toBe(keys[0])
  })

  test('that keeps failing is reported as unreachable', async () => {
    const gone = await troubled(99, cut)
    await expect(gone.call()).rejects.toMatchObject({ name: 'TrihandError', code: 'SERVER_UNREACHABLE' })
    expect(gone.keys).toHaveLength(4)
    await gone.close()
  })

  test('that refuses is not called again', async () => {
    const refusing = await troubled(99, (_, response) => response.writeHead(404).end())
    await expect(refusing.call()).rejects.toMatchObject({ code: 'SERVER_UNREACHABLE', status: 404 })
    expect(refusing.keys).toHaveLength(1)
    await refusing.close()
  })

  test('that never answers does not block a caller who aborts', async () => {
    const silent = await open(createServer(() => {}))
    const stop = new AbortController()
    const asked = createClient({ url: urlOf(silent) }).call('getLiveness', {}, { signal: stop.signal })
    stop.abort()
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' })
    await shut(silent)
  })
})

describe('a stream', () => {
  const send = () => client.call('sendEvent', { body: { type: 'go' } })

  test('client-1: resumes over cut connections, and gives each notice once', async () => {
    const stop = new AbortController()
    const wanted = new Set<string>()
    const heard: News[] = []
    const first = (await send()).runs[0] ?? ''
    const stream = client.stream({ topics: ['runs'], after: 'unknown', signal: stop.signal })
    // A position that the server did not issue: it can only say that everything may have changed.
    expect((await stream.next()).value).toMatchObject({ topic: '*' })
    for (let round = 0; round < 5; round++) wanted.add((await send()).runs[0] ?? '')
    for await (const news of stream) {
      heard.push(news)
      if (wanted.size < 15) {
        server.closeAllConnections()
        for (const id of (await send()).runs) wanted.add(id)
      }
      if ([...wanted].every((id) => heard.some((news) => news.id === id)) && wanted.size >= 15) stop.abort()
    }
    expect(heard.every(({ topic }) => topic === 'runs')).toBe(true)
    expect(heard.map(({ id }) => id)).not.toContain(first)
    expect(new Set(heard.map(({ position }) => position)).size).toBe(heard.length)
  })

  test('client-1: gives each notice once, even if the server repeats all of them', async () => {
    const line = (n: number): string => `id: a-${n}\nevent: notice\ndata: {"topic":"runs","id":"run_${n}"}\n\n`
    const asked: string[] = []
    const forgetful = await open(
      createServer((request, response) => {
        asked.push(request.url ?? '')
        const lines = Array.from({ length: asked.length + 1 }, (_, i) => line(i)).join('')
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`: hello\n\n${lines}`)
      }),
    )
    const ids: (string | null)[] = []
    for await (const { id } of createClient({ url: urlOf(forgetful), pauseMs: 1 }).stream()) {
      ids.push(id)
      if (ids.length === 4) break
    }
    await shut(forgetful)
    expect(ids).toEqual(['run_0', 'run_1', 'run_2', 'run_3'])
    expect(asked.slice(0, 2)).toEqual(['/api/stream', '/api/stream?after=a-1'])
  })

  test('that is refused ends with the reason', async () => {
    const stream = client.stream({ topics: ['nothing' as 'runs'] })
    await expect(stream.next()).rejects.toMatchObject({ code: 'QUERY_UNKNOWN', status: 400 })
  })

  test('that is aborted ends without an error', async () => {
    const stop = new AbortController()
    const next = client.stream({ signal: stop.signal }).next()
    stop.abort()
    expect(await next).toEqual({ value: undefined, done: true })
  })
})

test('the client is smaller than 6 kB on the wire, and imports no package', async () => {
  const build = await rolldown({ input: fileURLToPath(new URL('./client.ts', import.meta.url)), platform: 'browser' })
  const { output } = await build.generate({ format: 'esm', minify: true })
  await build.close()
  expect(output).toHaveLength(1)
  expect(output[0].imports).toEqual([])
  expect(gzipSync(output[0].code).byteLength).toBeLessThan(6_000)
  expect(output[0].code).not.toMatch(/\bprocess\b|node:/)
})
