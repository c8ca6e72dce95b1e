/** Broken bodies over a real socket: none is accepted, none uses up an idempotency key, none is reported as a bug. */
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { until } from '#test/support/until.ts'
import { type Listening, listen } from './server.ts'

let app: HttpApp
let server: Listening
beforeEach(async () => {
  app = await openApp({ name: 'shop', open: true, functions: [fn('add', {}, () => 1)] })
  server = await listen({ fetch: (request) => app.fetch(request), port: 0 })
})
afterEach(async () => {
  await server.stop()
  await app.close()
})

const BODY = JSON.stringify({ name: 'add', input: 1 })
const HEAD = ['POST /api/runs HTTP/1.1', 'host: localhost', 'content-type: application/json', 'idempotency-key: k']

/** Returns what the server answers to these lines before the connection is closed. */
const say = (lines: readonly string[], isCut: boolean): Promise<string> =>
  new Promise((resolve) => {
    let heard = ''
    const socket = connect(server.port, '127.0.0.1', () => {
      socket.write(lines.join('\r\n'), () => {
        if (isCut) socket.destroy()
      })
    })
    socket.on('data', (chunk) => {
      heard += chunk.toString()
      if (!isCut) socket.end()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(heard))
  })

test.each([
  ['a counted body', [...HEAD, `content-length: ${BODY.length}`, '', BODY.slice(0, 9)]],
  ['a body in chunks', [...HEAD, 'transfer-encoding: chunked', '', '9', BODY.slice(0, 9), '']],
])(
  'app-1: %s that is cut off is not a request: its key stays free, and no bug is reported (14.6)',
  async (_, lines) => {
    expect(await say(lines, true)).toBe('')
    const whole = await fetch(`${server.url}/api/runs`, {
      ...{ method: 'POST', body: BODY, headers: { 'content-type': 'application/json', 'idempotency-key': 'k' } },
    })
    expect(whole.status).toBe(201)
    expect((await app.ask('/api/runs')).body.items).toHaveLength(1)
    await until(
      () => app.reported,
      (reported) => reported.length === 0,
      { what: 'nothing is reported' },
    )
  },
)

test('a compressed body is refused and not stored as it is (14.6)', async () => {
  const headers = {
    ...{ 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/a', 'ce-type': 'a.b' },
    ...{ 'content-type': 'text/csv', 'content-encoding': 'gzip' },
  }
  const packed = await app.ask('/api/events', { method: 'POST', body: gzipSync('a,b'), headers })
  expect([packed.status, packed.body.code]).toEqual([415, 'MEDIA_TYPE_UNSUPPORTED'])
  const plain = await app.ask('/api/events', {
    ...{ method: 'POST', body: 'a,b', headers: { ...headers, 'content-encoding': 'identity' } },
  })
  expect(plain.status).toBe(202)
})
