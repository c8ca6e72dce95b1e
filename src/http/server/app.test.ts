/** Behaviour of the application for any request: guards, problems, limits. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'

const system = {
  name: 'shop',
  events: { 'order.placed': null },
  functions: [fn('ship', { trigger: 'order.placed' }, () => 'shipped')],
}

let app: HttpApp
beforeAll(async () => {
  app = await openApp(system)
})
afterAll(() => app.close())

describe('problems', () => {
  test('app-1: an unknown path is a problem document, also under /api', async () => {
    const { status, headers, body } = await app.ask('/api/x')
    expect(status).toBe(404)
    expect(headers.get('content-type')).toBe('application/problem+json')
    expect(body).toEqual({
      type: 'urn:trihand:error:NOT_FOUND',
      title: 'Not found',
      status: 404,
      code: 'NOT_FOUND',
      detail: 'there is nothing at /api/x',
      hint: expect.stringMatching(/\.$/),
    })
  })

  test.each([
    ['DELETE', '/api/events', 'GET, HEAD, POST'],
    ['POST', '/api/runs/counts', 'GET, HEAD'],
    ['GET', '/api/runs/run_1/cancel', 'POST'],
    ['PUT', '/', 'GET, HEAD'],
    ['OPTIONS', '/health/live', 'GET, HEAD'],
  ])('app-1: %s %s is refused with the allowed methods', async (method, path, allow) => {
    const { status, headers, body } = await app.ask(path, { method })
    expect([status, body.code, headers.get('allow')]).toEqual([405, 'METHOD_NOT_ALLOWED', allow])
  })

  test.each([
    ['/api/runs?statsu=failed', 'statsu'],
    ['/api/runs/counts?by=day', 'by'],
    ['/api/events?limit=1&limit=2', 'limit'],
    ['/health/live?x=1', 'x'],
    ['/?status=failed', 'status'],
  ])('an unknown parameter is refused: %s', async (path, name) => {
    const { status, body } = await app.ask(path)
    expect([status, body.code]).toEqual([400, 'QUERY_UNKNOWN'])
    expect(body.detail).toContain(name)
  })

  test.each(['limit=0', 'limit=201', 'limit=ten', 'limit=-1', 'status=broken'])(
    'a wrong value is refused: %s',
    async (query) => {
      const { status, body } = await app.ask(`/api/runs?${query}`)
      expect([status, body.code]).toEqual([400, 'QUERY_UNKNOWN'])
    },
  )

  test('a cursor of another list is refused', async () => {
    for (const path of ['/api/runs?cursor=7', '/api/events?cursor=run_7', '/api/events?cursor=-1']) {
      const { status, body } = await app.ask(path)
      expect([path, status, body.code]).toEqual([path, 400, 'CURSOR_INVALID'])
    }
  })

  test('app-1: an unexpected error gets an id, and its message is not shown', async () => {
    const broken = await openApp(system, (service) => ({
      ...service,
      send: () => Promise.reject(new Error('the password is 1234')),
    }))
    const { status, body, text } = await broken.post('/api/events', { type: 'order.placed' })
    expect([status, body.code]).toEqual([500, 'INTERNAL'])
    expect(body.error_id).toMatch(/^[\w-]{16,}$/)
    expect(text).not.toContain('1234')
    expect(broken.reported).toEqual([new Error('the password is 1234')])
    await broken.close()
  })

  test('a full disk is reported with a hint', async () => {
    const full = await openApp(system, (service) => ({
      ...service,
      send: () => Promise.reject(new TrihandError('STORAGE_FULL', 'database or disk is full')),
    }))
    const { status, body } = await full.post('/api/events', { type: 'order.placed' })
    expect([status, body.code, body.hint]).toEqual([
      507,
      'STORAGE_FULL',
      'Free disk space; work then continues automatically.',
    ])
    await full.close()
  })
})

describe('bodies', () => {
  test.each(['{"type":', '', 'order.placed', '{"type":"a"} x'])(
    'text that is not JSON is refused: %j',
    async (text) => {
      const { status, body } = await app.post('/api/events', text)
      expect([status, body.code]).toEqual([400, 'NOT_JSON'])
    },
  )

  test('bytes that are not UTF-8 are refused, not repaired', async () => {
    const bytes = new Uint8Array([0x22, 0xff, 0x22])
    const { status, body } = await app.ask('/api/events', {
      method: 'POST',
      body: bytes,
      headers: { 'content-type': 'application/json' },
    })
    expect([status, body.code]).toEqual([400, 'NOT_JSON'])
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx'])('%s is refused', async (type) => {
    const { status, body } = await app.post('/api/events', '{"type":"order.placed"}', { 'content-type': type })
    expect([status, body.code]).toEqual([415, 'MEDIA_TYPE_UNSUPPORTED'])
  })

  test('a content-type may name its charset', async () => {
    const type = 'application/json; charset=utf-8'
    const { status } = await app.post('/api/events', { type: 'order.placed' }, { 'content-type': type })
    expect(status).toBe(202)
  })

  test('[S19] a body of 1 MiB is read, one byte more is refused', async () => {
    const withBytes = (count: number): string => {
      const frame = JSON.stringify({ type: 'order.placed', data: '' })
      return frame.replace('""', `"${'x'.repeat(count - frame.length)}"`)
    }
    const fits = await app.post('/api/events', withBytes(1024 * 1024))
    const over = await app.post('/api/events', withBytes(1024 * 1024 + 1))
    expect([fits.status, fits.body.code]).toEqual([413, 'EVENT_TOO_LARGE'])
    expect([over.status, over.body.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
  })

  test('[S13] keys that could reach a prototype and very deep nesting are refused', async () => {
    const proto = await app.post('/api/events', '{"type":"order.placed","data":{"__proto__":{"admin":true}}}')
    const deep = await app.post(
      '/api/events',
      `{"type":"order.placed","data":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    )
    expect([proto.status, proto.body.code]).toEqual([400, 'JSON_INVALID'])
    expect([deep.status, deep.body.code]).toEqual([400, 'JSON_INVALID'])
  })
})

describe('guards', () => {
  test.each(['evil.example', 'evil.example:4400', '127.0.0.1.evil.example', '10.0.0.1'])(
    '[S6] guard-1: host %s is refused',
    async (host) => {
      for (const path of ['/', '/api/runs', '/health/live']) {
        const { status, body } = await app.ask(path, { headers: { host } })
        expect([status, body.code]).toEqual([403, 'HOST_FORBIDDEN'])
      }
    },
  )

  test.each(['localhost:4400', '127.0.0.1:9', '[::1]:4400', 'LOCALHOST'])(
    'guard-1: host %s is accepted as this machine',
    async (host) => {
      expect((await app.ask('/health/live', { headers: { host } })).status).toBe(200)
    },
  )

  test.each([
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:9999' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ])('[S6] guard-2: a page of another origin may not change anything: %j', async (headers) => {
    const own = { host: '127.0.0.1:4400' }
    const { status, body } = await app.post('/api/events', { type: 'order.placed' }, { ...own, ...headers })
    expect([status, body.code]).toEqual([403, 'ORIGIN_FORBIDDEN'])
  })

  test('guard-2: pages of the own origin and programs may change things', async () => {
    const own = { host: '127.0.0.1:4400', origin: 'http://127.0.0.1:4400', 'sec-fetch-site': 'same-origin' }
    expect((await app.post('/api/events', { type: 'order.placed' }, own)).status).toBe(202)
    expect((await app.post('/api/events', { type: 'order.placed' })).status).toBe(202)
  })

  test('every response forbids browsers to guess its type, to cache it and to send a referrer', async () => {
    for (const path of ['/', '/api/runs', '/api/x', '/health/ready']) {
      const { headers } = await app.ask(path)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('access-control-allow-origin')).toBeNull()
    }
  })
})

describe('health', () => {
  test('the server is alive, says who it is, and is ready while the ledger answers', async () => {
    expect((await app.ask('/health/live')).body).toEqual({ status: 'ok', version: '0.0.0', pid: 1 })
    const { status, body } = await app.ask('/health')
    const checks = {
      ledger: 'ok',
      writes: 'ok',
      workers: 'ok',
      progress: 'ok',
      handlers: 'ok',
      dispatcher: 'ok',
      loop: 'ok',
    }
    const about = { status: 'ok', version: '0.0.0', durable: false, simulated: false, simulated_because: null }
    expect([status, body]).toEqual([200, { ...about, checks, reasons: [] }])
  })

  test('without its ledger the server is alive but not ready', async () => {
    const away = await openApp(system, (service) => ({
      ...service,
      reader: { ...service.reader, events: () => Promise.reject(new TrihandError('LEDGER_UNAVAILABLE', 'gone')) },
    }))
    expect((await away.ask('/health/live')).status).toBe(200)
    const { status, body } = await away.ask('/health/ready')
    expect([status, body.checks.ledger]).toEqual([503, 'LEDGER_UNAVAILABLE'])
    // A page shows the reasons; a 503 would be logged as an error in its console.
    expect(await away.ask('/api/health')).toMatchObject({ status: 200, body: { ...body, status: 'unavailable' } })
    await away.close()
  })
})

test('[S5] app-2: every GET and HEAD, twice, leaves the ledger unchanged', async () => {
  const run = await app.started('order.placed')
  await app.when(run, 'success')
  const look = async () =>
    [await app.ask('/api/runs?limit=200'), await app.ask('/api/events?limit=200')].map(({ text }) => text)
  const before = await look()
  const paths = [
    '/',
    '/health',
    '/health/live',
    '/health/ready',
    '/api/runs/counts',
    `/api/runs/${run}`,
    `/api/runs/${run}/facts`,
  ]
  for (const path of [...paths, ...paths]) {
    expect((await app.ask(path)).status).toBe(200)
    expect((await app.ask(path, { method: 'HEAD' })).text).toBe('')
  }
  expect(await look()).toEqual(before)
})
