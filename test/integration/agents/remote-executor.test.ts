/** An executor over HTTP: both directions are signed, over a real socket. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { signedPost } from '#adapters/remote/signed-post.ts'
import { SystemClock } from '#adapters/system/clock.ts'
import { serveExecutor } from '#compose/executors.ts'
import { NotReached, remoteExecutor } from '#executors/remote.ts'
import type { Envelope, Executor } from '#ports/executor.ts'
import { executorSuite } from '#testing/executor-suite.ts'

const SECRET = `whsec_${Buffer.from('a secret that two sides share').toString('base64')}`
const OTHER = `whsec_${Buffer.from('a secret of somebody else here').toString('base64')}`

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** The author's server: any server with Request and Response. */
const listen = async (handler: (request: Request) => Promise<Response>): Promise<string> => {
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk as Buffer)
    const headers = new Headers(Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]))
    const body = incoming.method === 'POST' ? { body: Buffer.concat(chunks) } : {}
    const response = await handler(new Request('http://x/', { method: incoming.method ?? 'GET', headers, ...body }))
    outgoing.writeHead(response.status, Object.fromEntries(response.headers))
    outgoing.end(await response.text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  servers.push(server)
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const calling = (url: string, secret = SECRET, now = () => new SystemClock().now()): Executor =>
  remoteExecutor(signedPost({ url, secret, now, unreached: (message) => new NotReached(message) }))

const envelope = (part: number): Envelope => ({
  taskId: 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
  executorType: 'robot',
  task: { type: 'weld', input: { part }, call: null },
  context: { run: '', step: '', attempt: 2, traceparent: null, effectKey: 'th1_k' },
  constraints: { timeoutMs: 5_000 },
})

const robot: Executor['execute'] = async ({ task, context }, { signal }) => {
  const { part } = task.input as { part: unknown }
  if (part === 1)
    return { status: 'failed', error: { code: 'OUT_OF_GAS', message: 'm', retryable: true, definite: false } }
  if (part === 2) return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  return { status: 'success', result: { welded: part ?? null, attempt: context.attempt } }
}

const ask = (executor: Executor, part: number) =>
  executor.execute(envelope(part), { signal: new AbortController().signal })

let shared = ''
const through: Executor = {
  execute: async (task, abort) => {
    if (servers.length === 0) shared = await listen(serveExecutor({ secret: SECRET, execute: robot }))
    return calling(shared).execute(task, abort)
  },
}

executorSuite(
  'over HTTP',
  () => ({ executor: through, succeeds: envelope(7), fails: envelope(1), hangs: envelope(2) }),
  {
    tasks: 200,
  },
)

describe('over HTTP', () => {
  test('[E1][E2] a signed request follows the contract, and its result comes back', async () => {
    let body = ''
    const served = serveExecutor({ secret: [OTHER, SECRET], execute: robot })
    const url = await listen(async (request) => {
      body = await request.clone().text()
      return served(request)
    })
    expect(await ask(calling(url), 7)).toEqual({ status: 'success', result: { welded: 7, attempt: 2 } })
    expect(JSON.parse(body)).toMatchObject({
      contract: '1',
      task_id: 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
      executor_type: 'robot',
      execution_context: { attempt: 2, effect_key: 'th1_k' },
    })
    expect(await ask(calling(url), 1)).toMatchObject({
      status: 'failed',
      error: { code: 'OUT_OF_GAS', retryable: true },
    })
  })

  test('[E8] an unsigned, outdated or changed request is refused, and nothing is performed', async () => {
    let performed = 0
    const served = serveExecutor({
      secret: SECRET,
      execute: async () => {
        performed++
        return { status: 'success', result: 1 }
      },
    })
    const url = await listen(served)
    const changed = await listen(async (request) =>
      served(new Request(request.url, { method: 'POST', headers: request.headers, body: `${await request.text()} ` })),
    )
    const old = (): number => new SystemClock().now() - 3_600_000
    for (const executor of [calling(url, OTHER), calling(url, SECRET, old), calling(changed)])
      expect(await ask(executor, 7)).toMatchObject({
        status: 'failed',
        error: { code: 'EXECUTOR_FAILED', message: expect.stringContaining('401'), retryable: false, definite: true },
      })
    expect(performed).toBe(0)
    expect((await fetch(url)).status).toBe(405)
  })

  test('[E6] an executor that throws, returns nonsense or is busy yields a failure with a code', async () => {
    const answering = (status: number, text: string, headers = {}) =>
      listen(async () => new Response(text, { status, headers }))
    const thrower = serveExecutor({ secret: SECRET, execute: () => Promise.reject(new Error('raw')) })
    expect(await ask(calling(await listen(thrower)), 7)).toMatchObject({
      error: { code: 'EXECUTOR_THREW', message: 'raw' },
    })
    expect(await ask(calling(await answering(200, 'hello')), 7)).toMatchObject({ error: { code: 'EXECUTOR_FAILED' } })
    expect(await ask(calling(await answering(429, '', { 'retry-after': '7' })), 7)).toMatchObject({
      error: { code: 'RATE_LIMITED', retryAfterMs: 7_000 },
    })
    expect(await ask(calling(await answering(503, 'down')), 7)).toMatchObject({
      error: { retryable: true, definite: false },
    })
    expect(await ask(calling(await answering(302, '', { location: 'http://127.0.0.1:1/' })), 7)).toMatchObject({
      error: { code: 'EXECUTOR_FAILED' },
    })
  })

  test('[E7] remote-1: a call that reached no server has no effect; a lost answer leaves the outcome uncertain', async () => {
    const url = await listen(async () => new Response(''))
    for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve))
    expect(await ask(calling(url), 7)).toMatchObject({ error: { retryable: true, definite: true } })
    const dropping = createServer((_, outgoing) => outgoing.destroy())
    await new Promise<void>((resolve) => dropping.listen(0, '127.0.0.1', resolve))
    servers.push(dropping)
    const lost = calling(`http://127.0.0.1:${(dropping.address() as AddressInfo).port}/`)
    expect(await ask(lost, 7)).toMatchObject({ error: { retryable: true, definite: false } })
    expect(() => calling(url, 'not base64 !')).toThrow('CONFIG_INVALID')
  })
})
