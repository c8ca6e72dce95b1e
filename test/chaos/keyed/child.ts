/** The server that is killed: a whole Trihand with its HTTP application on a loopback port. It prints its address, and ends with its stdin. */
import { writeSync } from 'node:fs'
import { createTrihand } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import { createApp } from '#http/server/app.ts'
import { listen } from '#http/server/server.ts'
import { freePort } from '#test/support/free-port.ts'

export interface ServerInput {
  readonly database: string
  readonly leaseTtlMs: number
}

const input = JSON.parse(process.argv[2] ?? '') as ServerInput
const trihand = await createTrihand({
  system: {
    name: 'shop',
    open: true,
    functions: [
      fn('ship', {}, () => 'shipped'),
      fn('gated', { overlap: 'buffer_all', idempotency: { key: 'payload.n' } }, () => 'passed'),
      fn('hear', { trigger: 'order.placed' }, () => 'heard'),
    ],
    queues: [{ name: 'box', maxLength: 100_000 }],
  },
  database: input.database,
  leaseTtl: input.leaseTtlMs,
})
const app = createApp(trihand, {
  version: '0.0.0',
  pid: process.pid,
  report: (_, error) => console.error(error),
  limits: { requestRate: null, streams: 10 },
})
const { url } = await listen({ fetch: async (request, peer) => app.fetch(request, peer), port: await freePort() })
process.stdin.on('end', () => process.exit(0)).resume()
writeSync(process.stdout.fd, `${JSON.stringify({ url })}\n`)
