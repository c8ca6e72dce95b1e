/** The guarded fetch: which requests reach a real server on this machine, which plays the public network, and which are never sent. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { TrihandError } from '#model/kernel/errors.ts'
import type { ToolFetch } from '#ports/tool.ts'
import type { Network } from './guarded-connect.ts'
import { type FetchPolicy, guardedFetch } from './guarded-fetch.ts'

const HERE = '127.0.0.1'
type Answer = (request: IncomingMessage, response: ServerResponse) => void

let hits: { method: string; url: string; headers: IncomingHttpHeaders; body: string }[]
let answer: Answer
let port: number
let close: () => Promise<void>

beforeEach(async () => {
  hits = []
  answer = (_, response) => response.end('hello')
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    hits.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body })
    answer(request, response)
  })
  await new Promise<void>((done) => server.listen(0, HERE, done))
  port = (server.address() as AddressInfo).port
  close = () =>
    new Promise((done) => {
      server.close(() => done())
      server.closeAllConnections()
    })
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await close()
})

/** Names that end in .test resolve to this machine, which counts as public; no other address does. */
const world = (over: Partial<Network> = {}): Network => ({
  resolve: async (host) => (/\.test\.?$/.test(host) ? [HERE] : ['10.0.0.1']),
  mayReach: (address) => address === HERE,
  ...over,
})
const policy = (over: Partial<FetchPolicy> = {}): FetchPolicy => ({
  allowsHost: (host) => host.endsWith('.test'),
  ports: [port],
  ...over,
})
const get = (
  url: string,
  init: ToolFetch = {},
  over: { policy?: Partial<FetchPolicy>; network?: Partial<Network> } = {},
) => guardedFetch(policy(over.policy), world(over.network))(url, init)
const at = (host: string, path = '/'): string => `http://${host}:${port}${path}`

const refusal = async (call: Promise<unknown>): Promise<string> => {
  try {
    await call
    return 'it was let through'
  } catch (error) {
    return error instanceof TrihandError ? `${error.code}: ${error.detail}` : String(error)
  }
}
const redirectTo =
  (location: string, status = 302): Answer =>
  (_, response) => {
    response.writeHead(status, { location }).end()
  }

describe('an allowed host', () => {
  test('answers with status, headers and text', async () => {
    answer = (_, response) => response.writeHead(404, { 'content-type': 'text/plain', 'x-a': 'b' }).end('nothing')
    expect(await get(at('good.test', '/a?b=c'))).toMatchObject({
      status: 404,
      headers: { 'x-a': 'b' },
      text: 'nothing',
    })
    expect(hits).toMatchObject([{ method: 'GET', url: '/a?b=c' }])
  })

  test('receives method, headers and body', async () => {
    await get(at('good.test'), { method: 'post', headers: { 'X-Key': 'k' }, body: '{"a":1}' })
    expect(hits).toMatchObject([{ method: 'POST', headers: { 'x-key': 'k' }, body: '{"a":1}' }])
  })

  test.each(['GOOD.TEST', 'good.test.'])('%s is the same host', async (host) => {
    expect((await get(at(host))).text).toBe('hello')
  })

  test('is decoded in its own charset', async () => {
    answer = (_, response) =>
      response
        .writeHead(200, { 'content-type': 'text/plain; charset=iso-8859-1' })
        .end(Buffer.from([0x47, 0x72, 0xfc, 0xdf]))
    expect((await get(at('good.test'))).text).toBe('Grüß')
  })

  test('is reached directly, whatever proxy the environment names', async () => {
    for (const name of ['HTTP_PROXY', 'http_proxy', 'ALL_PROXY']) vi.stubEnv(name, 'http://127.0.0.1:1')
    expect((await get(at('good.test'))).text).toBe('hello')
  })
})

describe('guarded-fetch-1: refused before anything is sent', () => {
  test.each([
    ['a host that is not allowed', () => at('evil.example'), 'the host evil.example is not allowed'],
    ['a port that is not allowed', () => 'http://good.test:22/', 'port 22 is not one of'],
    ['another protocol', () => 'file:///etc/passwd', 'file: is neither'],
    ['credentials in the URL', () => `http://me:secret@good.test:${port}/`, 'a URL with credentials'],
    ['no URL', () => 'good.test/x', 'is not a URL'],
    ['a zone', () => `http://[fe80::1%25eth0]:${port}/`, 'is not a URL'],
  ])('%s', async (_, url, expected) => {
    const found = await refusal(get(url()))
    expect(found).toMatch(/^URL_BLOCKED/)
    expect(found).toContain(expected)
    expect(hits).toEqual([])
  })

  test.each(['host', 'Content-Length', 'Transfer-Encoding', 'Connection', 'proxy-authorization'])(
    'the header %s',
    async (name) => {
      expect(await refusal(get(at('good.test'), { headers: { [name]: '1' } }))).toMatch(/^URL_BLOCKED: the header/)
      expect(hits).toEqual([])
    },
  )

  test.each(['CONNECT', 'TRACE', 'GET /x'])('the method %s', async (method) => {
    expect(await refusal(get(at('good.test'), { method }))).toMatch(/^URL_BLOCKED: the method/)
    expect(hits).toEqual([])
  })

  test('a name with one internal address among others', async () => {
    const network = { resolve: async () => [HERE, '169.254.169.254'] }
    expect(await refusal(get(at('good.test'), {}, { network }))).toBe(
      'URL_BLOCKED: good.test is at 169.254.169.254, which is not a public address',
    )
    expect(hits).toEqual([])
  })

  test('a name that resolves to an internal address a moment later is resolved only once', async () => {
    const answers = [[HERE], ['10.0.0.1'], ['10.0.0.1']]
    const resolve = vi.fn(async () => answers.shift() ?? [])
    expect((await get(at('good.test'), {}, { network: { resolve } })).text).toBe('hello')
    expect(resolve).toHaveBeenCalledTimes(1)
  })

  test('a connection that ended at an internal address is closed before a byte is sent', async () => {
    const verdicts = [true, false]
    const mayReach = (): boolean => verdicts.shift() ?? false
    expect(await refusal(get(at('good.test'), {}, { network: { mayReach } }))).toBe(
      `URL_BLOCKED: good.test was reached at ${HERE}, which is not a public address`,
    )
    expect(hits).toEqual([])
  })
})

describe('guarded-fetch-2: redirects', () => {
  test('are followed, at most three of them', async () => {
    answer = (request, response) => {
      const n = Number(request.url?.slice(1))
      if (n > 0) redirectTo(`/${n - 1}`)(request, response)
      else response.end('there')
    }
    expect((await get(at('good.test', '/3'))).text).toBe('there')
    expect(await refusal(get(at('good.test', '/4')))).toBe('URL_BLOCKED: more than 3 redirects')
  })

  test.each([
    'http://10.0.0.1/',
    'http://2852039166/latest/meta-data',
    'http://[::ffff:10.0.0.1]/',
    'http://evil.example/',
    'file:///etc/passwd',
    'http://good.test:1/',
    '//evil.example/',
    'http://[',
  ])('to %s are refused', async (location) => {
    answer = redirectTo(location)
    expect(await refusal(get(at('good.test')))).toMatch(/^URL_BLOCKED/)
    expect(hits).toHaveLength(1)
  })

  test('are failures if none is allowed', async () => {
    answer = redirectTo('/x')
    expect(await refusal(get(at('good.test'), {}, { policy: { maxRedirects: 0 } }))).toBe(
      'URL_BLOCKED: more than 0 redirects',
    )
  })

  const HEADERS = { authorization: 'Bearer secret', cookie: 'a=b', 'x-api-key': 'secret', accept: 'text/html' }

  test('to another origin carry no credentials', async () => {
    answer = (request, response) => {
      if (request.url === '/') redirectTo(at('other.test', '/there'))(request, response)
      else response.end('there')
    }
    expect((await get(at('good.test'), { headers: HEADERS })).text).toBe('there')
    expect(hits[0]?.headers).toMatchObject(HEADERS)
    expect(hits[1]?.headers).toMatchObject({ accept: 'text/html' })
    expect(JSON.stringify(hits[1]?.headers)).not.toMatch(/secret|a=b/)
  })

  test('within an origin keep them', async () => {
    answer = (request, response) => (request.url === '/' ? redirectTo('/there')(request, response) : response.end())
    await get(at('good.test'), { headers: HEADERS })
    expect(hits[1]?.headers).toMatchObject(HEADERS)
  })

  test.each([
    [303, 'GET', ''],
    [302, 'GET', ''],
    [307, 'POST', 'the body'],
    [308, 'POST', 'the body'],
  ])('with status %i continue as %s', async (status, method, body) => {
    answer = (request, response) => (request.url === '/' ? redirectTo('/x', status)(request, response) : response.end())
    await get(at('good.test'), { method: 'POST', body: 'the body' })
    expect(hits[1]).toMatchObject({ method, body })
  })
})

describe('guarded-fetch-3: limits', () => {
  const maxBytes = 1_000

  test.each([
    [maxBytes, 'is fine', true],
    [maxBytes + 1, 'is too large', false],
  ])('an answer of %i bytes %s', async (size, _, fits) => {
    answer = (_request, response) => response.end('x'.repeat(size))
    const found = await refusal(get(at('good.test'), {}, { policy: { maxBytes } }))
    expect(found).toBe(fits ? 'it was let through' : `URL_BLOCKED: the answer is larger than ${maxBytes} bytes`)
  })

  test('an answer that is too large after decompression is refused', async () => {
    answer = (_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(1_000_000)))
    expect(await refusal(get(at('good.test'), {}, { policy: { maxBytes: 100_000 } }))).toMatch(
      /^URL_BLOCKED: the answer is larger/,
    )
  })

  test('an answer without an end is cut off', async () => {
    answer = (_, response) => {
      const more = (): void => {
        while (response.write('x'.repeat(1_000)));
        response.once('drain', more)
      }
      more()
    }
    expect(await refusal(get(at('good.test'), {}, { policy: { maxBytes: 100_000 } }))).toMatch(
      /^URL_BLOCKED: the answer is larger/,
    )
  })

  test('a server that never answers fails after the timeout', async () => {
    answer = () => {}
    expect(await refusal(get(at('good.test'), {}, { policy: { timeoutMs: 20 } }))).toBe(
      `FETCH_FAILED: good.test:${port}: no answer within 20 ms`,
    )
  })

  test('an aborted call rejects with the reason', async () => {
    const abort = new AbortController()
    answer = () => abort.abort(new Error('enough'))
    expect(await refusal(get(at('good.test'), { signal: abort.signal }))).toBe('Error: enough')
  })
})

describe('a failure', () => {
  test('of the connection names the cause', async () => {
    await close()
    expect(await refusal(get(at('good.test')))).toMatch(/^FETCH_FAILED: good\.test:\d+: .*ECONNREFUSED/)
  })

  test('of name resolution is reported as such', async () => {
    const resolve = async (): Promise<readonly string[]> => []
    expect(await refusal(get(at('good.test'), {}, { network: { resolve } }))).toBe(
      'FETCH_FAILED: good.test has no address',
    )
  })

  test('in the middle of the answer is a failure', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('half', () => response.socket?.resetAndDestroy())
    }
    expect(await refusal(get(at('good.test')))).toMatch(/^FETCH_FAILED/)
  })
})
