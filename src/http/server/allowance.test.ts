/** Limits of one credential, over the real application and by the clock of the system: requests a second, open streams. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { authSettings } from '#http/access/auth-settings.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { Allowance, USUAL_LIMITS } from './allowance.ts'
import type { Service } from './service.ts'

const AUTH = authSettings({ host: '127.0.0.1', publicUrl: 'https://th.example' }, 'k'.repeat(32))

let app: HttpApp
let now = 1_700_000_000_000
let headers: Record<'ana' | 'bob', { readonly authorization: string }>

const atOurTime = (service: Service): Service => ({
  ...service,
  tokens: Object.create(service.tokens, { now: { get: () => now } }),
})

const headersOf = async (name: string): Promise<{ readonly authorization: string }> => {
  const intent = { tenant: 'local', name, kind: 'user', roles: ['viewer', 'operator'], groups: [] }
  return { authorization: `Bearer ${(await app.trihand.tokens.create(intent, 'test')).token}` }
}

beforeAll(async () => {
  app = await openApp({ name: 'shop', events: { go: null } }, atOurTime, { auth: AUTH, limits: USUAL_LIMITS })
  headers = { ana: await headersOf('ana'), bob: await headersOf('bob') }
})
afterAll(() => app.close())
beforeEach(() => {
  now += 60_000
})

const ask = (who: 'ana' | 'bob', path = '/api/me'): Promise<Response> => app.open(path, { headers: headers[who] })

const statuses = async (count: number): Promise<readonly number[]> =>
  Promise.all(Array.from({ length: count }, async () => (await ask('ana')).status))

describe('requests', () => {
  test('[M4] allowance-1: after 200 at once a credential is refused with 429 and retry-after, and others are not (13.2.5)', async () => {
    expect(new Set(await statuses(200))).toEqual(new Set([200]))
    const refused = await ask('ana')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
    expect(await refused.json()).toMatchObject({ code: 'TOO_MANY_REQUESTS', status: 429 })
    expect((await app.post('/api/events', { type: 'go' }, headers.ana)).status).toBe(429)
    expect((await ask('bob')).status).toBe(200)
    // Requests to public routes are not counted.
    expect((await ask('ana', '/health/live')).status).toBe(200)
  })

  test('[M4] allowance-1: a second later a credential may send a hundred more requests, and no more than that (13.2.5)', async () => {
    await statuses(200)
    now += 1_000
    expect((await statuses(120)).filter((status) => status === 429)).toHaveLength(20)
  })

  test('allowance-1: a clock that is set back refuses nothing that was allowed before', () => {
    const allowance = new Allowance({ requestRate: 1, streams: 1 })
    allowance.take('a', 10_000)
    allowance.take('a', 0)
    expect(() => allowance.take('a', 0)).toThrow('more than 1 requests per second')
    allowance.take('a', 1_000)
  })

  test('allowance-2: if there are too many credentials, only those used last are remembered', () => {
    const allowance = new Allowance({ requestRate: 1, streams: 1 })
    const use = (name: string): void => {
      for (let i = 0; i < 2; i++) allowance.take(name, 0)
    }
    use('first')
    expect(() => allowance.take('first', 0)).toThrow('requests per second')
    for (let i = 0; i < 10_000; i++) use(`c${i}`)
    expect(() => allowance.take('c9999', 0)).toThrow('requests per second')
    use('first')
  })
})

describe('streams', () => {
  test('[M4] allowance-3: the 101st stream of a credential is refused with 429 until one ends, and others open theirs (13.2.5)', async () => {
    const opened = await Promise.all(Array.from({ length: 100 }, () => ask('ana', '/api/stream')))
    expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([200]))
    const refused = await ask('ana', '/api/stream')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5'])
    const other = await ask('bob', '/api/stream')
    expect(other.status).toBe(200)
    await opened[0]?.body?.cancel()
    const next = await ask('ana', '/api/stream')
    expect(next.status).toBe(200)
    for (const { body } of [...opened.slice(1), other, next]) await body?.cancel()
  })

  test('allowance-3: a HEAD request to a stream takes no place', async () => {
    for (let i = 0; i < 120; i++)
      expect((await app.open('/api/stream', { method: 'HEAD', headers: headers.ana })).status).toBe(200)
    const stream = await ask('ana', '/api/stream')
    expect(stream.status).toBe(200)
    await stream.body?.cancel()
  })
})
