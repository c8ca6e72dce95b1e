/** Authorization: every operation against every role, kind and credential, over the real application. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { human } from '#manifest/human/humans.ts'
import { type Access, forbidAccess, KINDS, ROLES } from '#model/access/identity.ts'
import { ERRORS } from '#model/kernel/errors.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { authSettings } from './auth-settings.ts'

const KEY = 'k'.repeat(32)
const ID = '0'.repeat(32)
const ASKED = authSettings({ host: '127.0.0.1', publicUrl: 'https://th.example' }, KEY)
const REFUSALS: readonly number[] = [ERRORS.UNAUTHENTICATED.status, ERRORS.ROLE_MISSING.status]

let app: HttpApp
beforeAll(async () => {
  const review = human('review', { trigger: 'letter.ready', title: 'Letter', assign: 'group:editors' })
  app = await openApp({ name: 'letters', events: { 'letter.ready': null }, humans: [review] }, undefined, {
    auth: ASKED,
  })
})
afterAll(() => app.close())

const tokenFor = async (
  kind: string,
  roles: readonly string[],
  name = `${kind}-${roles.join('-')}`,
): Promise<string> => {
  const intent = { tenant: 'local', name, kind, roles, groups: ['editors'] }
  return (await app.trihand.tokens.create(intent, 'test')).token
}

interface Asked {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly access: Access
}

const operations = async (): Promise<readonly Asked[]> => {
  const { paths } = (await app.ask('/openapi.json')).body
  return Object.entries<Record<string, Record<string, string>>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation['operationId'] ?? '',
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, ID),
      access: operation['x-trihand-access'] as Access,
    })),
  )
}

/** The code with which access is refused. What the route itself answers is not checked here. */
const codeOf = async ({ method, path }: Asked, headers: Readonly<Record<string, string>>): Promise<string | null> => {
  const init = { method, headers: { 'content-type': 'application/json', ...headers } }
  const response = await app.open(path, method === 'GET' ? init : { ...init, body: '{}' })
  if (!REFUSALS.includes(response.status)) {
    await response.body?.cancel()
    return null
  }
  const type = response.headers.get('content-type') ?? ''
  return type.startsWith('application/problem+json') ? ((await response.json()) as { code: string }).code : null
}

const DOOR_CODES = ['UNAUTHENTICATED', 'ROLE_MISSING', 'AGENT_CANNOT_DECIDE']
const doorCode = async (asked: Asked, headers: Readonly<Record<string, string>>): Promise<string | null> => {
  const code = await codeOf(asked, headers)
  return code !== null && DOOR_CODES.includes(code) ? code : null
}

describe('every operation', () => {
  test('auth-2: is closed to a caller without a credential, unless it is public', async () => {
    const table = await operations()
    expect(table.length).toBeGreaterThan(30)
    for (const asked of table)
      expect([asked.id, await doorCode(asked, {})]).toEqual([
        asked.id,
        asked.access === 'public' ? null : 'UNAUTHENTICATED',
      ])
  })

  test('is open to the role it names and to no other, whatever the kind; agents and services never decide', async () => {
    const table = await operations()
    for (const kind of KINDS)
      for (const role of ROLES.filter((one) => kind === 'user' || one !== 'decider')) {
        const authorization = `Bearer ${await tokenFor(kind, [role])}`
        for (const asked of table) {
          const expected = forbidAccess({ id: 'x', kind, roles: [role] }, asked.access)?.code ?? null
          expect([kind, role, asked.id, await doorCode(asked, { authorization })]).toEqual([
            ...[kind, role, asked.id, expected],
          ])
        }
      }
  })

  test('names the role it needs: only operations with nothing to hide, or that verify their caller themselves, are public', async () => {
    const open = (await operations()).filter(({ access }) => access === 'public').map(({ id }) => id)
    expect(open.toSorted()).toEqual(
      [
        'getHealth',
        'getLiveness',
        'getReadiness',
        'getLoginPage',
        'logIn',
        'logOut',
        'receiveWebhook',
        'getOpenApi',
      ].toSorted(),
    )
  })
})

describe('a credential', () => {
  test('auth-1: that is not valid is refused, and never falls back to a header or a cookie', async () => {
    const bad = ['Bearer th_nobody', 'Bearer', 'Basic abc', 'Bearer th_a th_b', '']
    for (const authorization of bad) {
      const headers = { authorization, 'x-trihand-user': 'ana' }
      expect((await app.ask('/api/me', { headers })).body).toMatchObject({ code: 'UNAUTHENTICATED' })
    }
  })

  test('identifies the caller; the loopback headers are ignored beside it', async () => {
    const authorization = `Bearer ${await tokenFor('user', ['viewer', 'decider'], 'ana')}`
    const { body } = await app.ask('/api/me', { headers: { authorization, 'x-trihand-user': 'eve' } })
    expect(body).toEqual({
      ...{ tenant: 'local', id: 'ana', kind: 'user', roles: ['viewer', 'decider'], groups: ['editors'] },
      ...{ is_named: true, is_login: true, can_log_out: true },
    })
  })

  test('gives the name under which a command is recorded', async () => {
    const authorization = `Bearer ${await tokenFor('service', ['operator'], 'billing')}`
    const sent = await app.post('/api/events', { type: 'letter.ready' }, { authorization })
    expect(sent.status).toBe(202)
    const { body } = await app.ask('/api/events', { headers: { authorization } })
    expect(body.items.find(({ id }: { id: string }) => id === sent.body.id)).toMatchObject({ source: '/api/billing' })
  })

  test('is valid until it is revoked', async () => {
    const admin = { authorization: `Bearer ${await tokenFor('user', ['admin'], 'root')}` }
    const made = await app.post('/api/tokens', { name: 'bo', kind: 'user', roles: ['viewer'] }, admin)
    expect(made).toMatchObject({
      status: 201,
      body: { name: 'bo', status: 'active', token: expect.stringMatching(/^th_/) },
    })
    const headers = { authorization: `Bearer ${made.body.token}` }
    expect((await app.ask('/api/runs', { headers })).status).toBe(200)
    const listed = await app.ask('/api/tokens', { headers: admin })
    expect(JSON.stringify(listed.body)).not.toContain(made.body.token)
    const gone = await app.ask(`/api/tokens/${made.body.id}`, { method: 'DELETE', headers: admin })
    expect(gone.body).toMatchObject({ status: 'revoked' })
    expect((await app.ask('/api/runs', { headers })).status).toBe(401)
  })

  test('that is not allowed is refused with the reason', async () => {
    const admin = { authorization: `Bearer ${await tokenFor('user', ['admin'], 'root')}` }
    const intent = { name: 'bot', kind: 'agent', roles: ['viewer'] }
    for (const over of [
      { roles: ['decider'] },
      { roles: 'viewer' },
      { expires_in: 'soon' },
      { kind: 'x' },
      { name: '' },
    ])
      expect((await app.post('/api/tokens', { ...intent, ...over }, admin)).body).toMatchObject({
        code: 'TOKEN_INVALID',
      })
  })
})

describe('a login', () => {
  const OWN = { host: 'th.example', origin: 'https://th.example' }
  const form = (token: string, next: string): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...OWN },
    body: new URLSearchParams({ token, next }).toString(),
  })
  const cookieOf = (response: Response): string => (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''

  test('takes a token, sets a cookie and opens the page; without the cookie a browser is redirected to log in', async () => {
    const closed = await app.open('/', { headers: { accept: 'text/html', ...OWN } })
    expect([closed.status, closed.headers.get('location')]).toEqual([303, '/login?next=%2F'])
    const page = await app.ask('/login?next=%2Fx%22%3E%3Cscript%3E', { headers: OWN })
    expect(page.text).not.toContain('<script>')
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self'")
    const token = await tokenFor('user', ['viewer'], 'ana')
    const done = await app.open('/login', form(token, '/runs?status=failed'))
    expect([done.status, done.headers.get('location')]).toEqual([303, '/runs?status=failed'])
    expect(done.headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Strict; .*Secure/)
    expect(cookieOf(done)).not.toContain(token)
    const { body } = await app.ask('/api/me', { headers: { cookie: cookieOf(done), ...OWN } })
    expect(body).toMatchObject({ id: 'ana', roles: ['viewer'] })
  })

  test('with a wrong token is refused, and never redirects to another site', async () => {
    const refused = await app.open('/login', form('th_wrong', '/'))
    expect([refused.status, refused.headers.get('set-cookie')]).toEqual([401, null])
    const token = await tokenFor('user', ['viewer'])
    for (const next of ['//evil.example', 'https://evil.example', '/\\evil.example', ''])
      expect((await app.open('/login', form(token, next))).headers.get('location')).toBe('/')
  })

  test('redirects to a page of this server and never away, however the address is written (13.3.4)', async () => {
    const token = await tokenFor('user', ['viewer'])
    const away = [
      ...['/\t/evil.example', '/\n/evil.example', '/\r\n/evil.example', '\t//evil.example', '/\t\\evil.example'],
      ...['/.//evil.example', '/x/..//evil.example', '/./\\evil.example', '/%2e//evil.example', '\\\\evil.example'],
      ...['///evil.example', 'javascript:alert(1)', 'http:evil.example', ' //evil.example', '/\\/evil.example'],
    ]
    for (const next of away) {
      const location = (await app.open('/login', form(token, next))).headers.get('location') ?? ''
      expect([next, location]).toEqual([next, '/'])
      const { text } = await app.ask(`/login?next=${encodeURIComponent(next)}`, { headers: OWN })
      expect(text).toContain('name="next" value="/"')
    }
    for (const next of ['/runs?status=failed#top', '/inbox?task=tsk_1&x=//y'])
      expect((await app.open('/login', form(token, next))).headers.get('location')).toBe(next)
  })

  test('tokens-3: ends on the server when the person logs out: a saved cookie is no longer valid, the login of another browser is (13.3.4)', async () => {
    const token = await tokenFor('user', ['viewer'], 'dora')
    const [one, two] = await Promise.all([1, 2].map(async () => cookieOf(await app.open('/login', form(token, '/')))))
    const status = async (cookie = '') => (await app.ask('/api/me', { headers: { cookie, ...OWN } })).status
    expect([await status(one), await status(two)]).toEqual([200, 200])
    const logOut = (cookie = '') => app.open('/logout', { method: 'POST', headers: { cookie, ...OWN } })
    expect((await logOut(one)).status).toBe(303)
    expect([await status(one), await status(two)]).toEqual([401, 200])
    expect((await logOut(one)).status).toBe(303)
    expect((await logOut(`${two}x`)).status).toBe(303)
    expect([await status(one), await status(two)]).toEqual([401, 200])
    expect((await app.ask('/api/me', { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
  })

  test('auth-3: is valid only for requests from pages of this server', async () => {
    const done = await app.open('/login', form(await tokenFor('user', ['operator']), '/'))
    const send = (headers: Readonly<Record<string, string>>) =>
      app.post('/api/events', { type: 'letter.ready' }, { host: 'th.example', cookie: cookieOf(done), ...headers })
    expect((await send({ origin: 'https://th.example' })).status).toBe(202)
    expect((await send({ 'sec-fetch-site': 'same-origin' })).status).toBe(202)
    const foreign = [{}, { origin: 'https://evil.example' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }]
    for (const headers of foreign) expect((await send(headers)).body).toMatchObject({ code: 'ORIGIN_FORBIDDEN' })
    expect((await send({ origin: 'https://th.example', host: 'evil.example' })).body).toMatchObject({
      code: 'HOST_FORBIDDEN',
    })
  })

  test('ends with its token, and when the person logs out', async () => {
    const token = await tokenFor('user', ['viewer'], 'cy')
    const done = await app.open('/login', form(token, '/'))
    const headers = { cookie: cookieOf(done), ...OWN }
    expect((await app.ask('/api/me', { headers })).status).toBe(200)
    await app.trihand.tokens.revoke(app.trihand.tokens.idOf(token), null)
    expect((await app.ask('/api/me', { headers })).status).toBe(401)
    const out = await app.open('/logout', { method: 'POST', headers })
    expect([out.status, out.headers.get('set-cookie')]).toEqual([303, expect.stringContaining('Max-Age=0')])
  })
})

test('on loopback a token counts, too, and a wrong one does not fall back to full access', async () => {
  const local = await openApp({ name: 'letters' })
  const { token } = await local.trihand.tokens.create(
    { tenant: 'local', name: 'ana', kind: 'user', roles: ['viewer'], groups: [] },
    'test',
  )
  const as = (authorization: string) => local.ask('/api/tokens', { headers: { authorization } })
  expect((await local.ask('/api/tokens')).status).toBe(200)
  expect((await as(`Bearer ${token}`)).body).toMatchObject({ code: 'ROLE_MISSING' })
  expect((await as('Bearer th_x')).body).toMatchObject({ code: 'UNAUTHENTICATED' })
  await local.close()
})

test('the actions of a task are offered only to callers who may decide', async () => {
  await app.trihand.send({ type: 'letter.ready', data: {} })
  const offered = async (kind: string, role: string): Promise<number> => {
    const headers = { authorization: `Bearer ${await tokenFor(kind, [role])}` }
    const { items } = (await app.ask('/api/tasks?all=true', { headers })).body
    return (await app.ask(`/api/tasks/${items[0].id}`, { headers })).body.allowed_actions.length
  }
  expect(await offered('user', 'decider')).toBeGreaterThan(0)
  for (const role of ['viewer', 'operator', 'admin']) expect([role, await offered('user', role)]).toEqual([role, 0])
  expect(await offered('service', 'operator')).toBe(0)
})
