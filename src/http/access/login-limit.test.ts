/** Wrong tokens over the real application: an address that sends too many must wait, by the clock of the system, and others need not. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Service } from '#http/server/service.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { authSettings } from './auth-settings.ts'

const AUTH = authSettings({ host: '127.0.0.1', publicUrl: 'https://th.example' }, 'k'.repeat(32))
const MINUTE = 60_000

let app: HttpApp
let now = 1_700_000_000_000
let token: string

const atOurTime = (service: Service): Service => ({
  ...service,
  tokens: Object.create(service.tokens, { now: { get: () => now } }),
})

beforeAll(async () => {
  app = await openApp({ name: 'shop', events: { go: null } }, atOurTime, { auth: AUTH })
  const intent = { tenant: LOCAL_TENANT, name: 'ana', kind: 'user', roles: ['viewer'], groups: [] }
  token = (await app.trihand.tokens.create(intent, 'test')).token
})
afterAll(() => app.close())
beforeEach(() => {
  now += 2 * MINUTE
})

const [HERE, THERE] = [{ address: '203.0.113.7' }, { address: '203.0.113.8' }]

const ask = (bearer: string, peer = HERE): Promise<Response> =>
  app.open('/api/me', { headers: { authorization: `Bearer ${bearer}` } }, peer)

const logIn = (given: string, peer = HERE): Promise<Response> =>
  app.open(
    '/login',
    {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://th.example' },
      body: new URLSearchParams({ token: given }).toString(),
    },
    peer,
  )

const failTenTimes = async (attempt: (wrong: string) => Promise<Response>): Promise<void> => {
  for (let i = 0; i < 10; i++) expect((await attempt(`th_wrong_${i}`)).status).toBe(401)
}

describe('auth-5: after ten wrong tokens from one address', () => {
  test('the next one is refused with a wait, and after that time is only rejected as wrong', async () => {
    await failTenTimes(ask)
    now += 20_000
    const refused = await ask('th_wrong')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '40'])
    expect(await refused.json()).toMatchObject({ code: 'TOO_MANY_REQUESTS', status: 429 })
    now += 40_000
    expect((await ask('th_wrong')).status).toBe(401)
  })

  test('no header makes it look like another address: a program on this machine must wait, too (13.3.4)', async () => {
    const local = { address: '127.0.0.1' }
    let said = 0
    const attempt = (wrong: string): Promise<Response> => {
      const headers = { authorization: `Bearer ${wrong}`, 'x-forwarded-for': `198.51.100.${said++}` }
      return app.open('/api/me', { headers }, local)
    }
    await failTenTimes(attempt)
    expect((await attempt('th_wrong')).status).toBe(429)
  })

  test('concurrent attempts are limited as sequential ones are, and the login then accepts no token (13.3.4)', async () => {
    const tries = Array.from({ length: 30 }, (_, i) => logIn(`th_wrong_${i}`))
    const statuses = (await Promise.all([...tries, logIn(token)])).map(({ status }) => status)
    expect([401, 429, 303].map((wanted) => statuses.filter((status) => status === wanted).length)).toEqual([10, 21, 0])
  })

  test('a valid token is accepted, and another address is not affected', async () => {
    await failTenTimes(ask)
    expect((await ask(token)).status).toBe(200)
    expect((await ask('th_wrong', THERE)).status).toBe(401)
  })

  test('the login accepts no token for a while, and says how long', async () => {
    await failTenTimes(logIn)
    const refused = await logIn(token)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60'])
    expect(await refused.text()).toContain('Try again in 60 seconds.')
    expect((await logIn(token, THERE)).status).toBe(303)
    now += MINUTE
    expect((await logIn(token)).status).toBe(303)
  })
})
