/** Bodies over a real socket: without a length, without a body, and too large. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTrihand, type Trihand } from '#compose/assemble.ts'
import { createApp } from './app.ts'
import { type Listening, listen } from './server.ts'

let trihand: Trihand
let server: Listening
beforeAll(async () => {
  trihand = await createTrihand({ system: { name: 'shop', events: { 'order.placed': null } }, database: 'memory:' })
  const app = createApp(trihand, { version: '0', pid: 1, report: () => {} })
  server = await listen({ fetch: (request) => app.fetch(request), port: 0 })
})
afterAll(async () => {
  await server.stop()
  await trihand.close()
})

/** Node sends a stream in chunks, without a content-length. */
const inChunks = (...texts: readonly string[]): RequestInit => {
  const body = new ReadableStream({
    start: (controller) => {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text))
      controller.close()
    },
  })
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body, duplex: 'half' } as RequestInit
}

test('a body that arrives in chunks is read whole', async () => {
  const response = await fetch(`${server.url}/api/events`, inChunks('{"type":"order', '.placed"}'))
  expect(response.status).toBe(202)
})

test('a body that arrives in chunks is refused once it is too large', async () => {
  const part = `"${'x'.repeat(600_000)}"`
  const response = await fetch(`${server.url}/api/events`, inChunks(`{"type":${part},`, `"data":${part}}`))
  expect([response.status, await response.json()]).toMatchObject([413, { code: 'PAYLOAD_TOO_LARGE' }])
})

test('a request without a body is answered by its route', async () => {
  const response = await fetch(`${server.url}/api/tokens/tok_none`, { method: 'DELETE' })
  expect([response.status, await response.json()]).toMatchObject([404, { code: 'NOT_FOUND' }])
})
