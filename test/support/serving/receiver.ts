/**
 * A receiver of webhook deliveries over real HTTP that answers as a test wants.
 *
 * Owns the server and the received deliveries. Only `wayOut` resolves the name in its address: the receiver stands for the internet.
 */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { guardedFetch } from '#adapters/tools/guarded-fetch.ts'

export interface Got {
  /** The status of its answer. */
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Receiver {
  readonly got: readonly Got[]
  /** Its answers, one after the other; then 200. */
  readonly answers: number[]
  /** A URL of the receiver. */
  url(path: string): string
  /** The only network access to it. */
  wayOut(): ReturnType<typeof guardedFetch>
  close(): void
}

export const startReceiver = async (host: string): Promise<Receiver> => {
  const got: Got[] = []
  const answers: number[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const status = answers.shift() ?? 200
    got.push({ status, headers: request.headers, body })
    response.writeHead(status).end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    got,
    answers,
    url: (path) => `http://${host}:${port}${path}`,
    wayOut: () =>
      guardedFetch(
        { allowsHost: (asked) => asked === host, ports: [port], maxRedirects: 0 },
        { resolve: async () => ['127.0.0.1'], mayReach: () => true },
      ),
    close: () => void server.close(),
  }
}
