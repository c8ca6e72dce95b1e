/** Open streams and their credentials, over the real application: a stream ends with the token or the login it was opened with. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openMemory } from '#adapters/storage/memory/open.ts'
import { SystemIds } from '#adapters/system/ids.ts'
import { Tokens } from '#engine/services/tokens.ts'
import { fn } from '#executors/workflow/function.ts'
import { authSettings } from '#http/access/auth-settings.ts'
import type { DocumentWrite } from '#ports/ledger.ts'
import { type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { VirtualClock } from '#testing/virtual-clock.ts'

const AUTH = authSettings({ host: '127.0.0.1', publicUrl: 'https://th.example' }, 'k'.repeat(32))
const VIEWER = { tenant: 'local', name: 'ana', kind: 'user', roles: ['viewer', 'operator'], groups: [] }
const HOUR = 3_600_000

const clock = new VirtualClock(1_000)
const { ledger, reader } = openMemory()
let count = 0
const note = async (documents: readonly DocumentWrite[]): Promise<void> => {
  await ledger.append([{ appendId: `a${count++}`, writes: [], events: [], signals: [], documents }])
}
/** Two processes on one ledger. */
const [here, elsewhere] = [0, 1].map(
  () => new Tokens({ note, reader, clock, ids: new SystemIds(), secret: () => `secret-${count++}` }),
) as [Tokens, Tokens]

let app: HttpApp
beforeAll(async () => {
  const wait = fn('wait', { trigger: 'go' }, ({ step }) => step.sleep('long', '1h'))
  const system = { name: 'shop', events: { go: null }, functions: [wait] }
  app = await openApp(system, (service) => ({ ...service, tokens: here }), { auth: AUTH })
})
afterAll(() => app.close())

interface Reading {
  isOver: boolean
  readonly over: Promise<void>
}

/** Opens a stream and reads it to its end. */
const follow = async (path: string, headers: Readonly<Record<string, string>>): Promise<Reading> => {
  const response = await app.open(path, { headers })
  expect(response.status).toBe(200)
  const reading = { isOver: false, over: Promise.resolve() }
  reading.over = response.text().then(() => {
    reading.isOver = true
  })
  return reading
}

const tokenOf = async (lifeMs?: number) => {
  const { token, record } = await here.create(VIEWER, 'test', lifeMs)
  return { id: record.id, token, headers: { authorization: `Bearer ${token}` } }
}

test('open-stream-1: every stream of a token ends when it is revoked, and those of other tokens continue', async () => {
  const [gone, other] = [await tokenOf(), await tokenOf()]
  const { body } = await app.post('/api/events', { type: 'go' }, gone.headers)
  const paths = ['/api/stream', `/api/runs/${body.runs[0]}/stream`]
  const ended = await Promise.all(paths.map((path) => follow(path, gone.headers)))
  const left = await follow('/api/stream', other.headers)
  await here.revoke(gone.id, null)
  await Promise.all(ended.map(({ over }) => over))
  expect(left.isOver).toBe(false)
  expect((await app.open('/api/stream', { headers: gone.headers })).status).toBe(401)
  await here.revoke(other.id, null)
  await left.over
})

test('open-stream-1: a stream ends after one poll if another process revokes its token', async () => {
  const { id, headers } = await tokenOf()
  const reading = await follow('/api/stream', headers)
  await elsewhere.revoke(id, null)
  await clock.advance(10_000)
  await reading.over
})

test('open-stream-1: a stream ends when its token expires', async () => {
  const { headers } = await tokenOf(HOUR)
  const reading = await follow('/api/stream', headers)
  await clock.advance(HOUR - 10_000)
  expect(reading.isOver).toBe(false)
  await clock.advance(20_000)
  await reading.over
})

test('open-stream-1: a stream ends with the login of its browser, though the token is still valid', async () => {
  const { token } = await tokenOf()
  const login = await app.open('/login', {
    method: 'POST',
    body: new URLSearchParams({ token, next: '/' }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://th.example' },
  })
  const cookie = (login.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  const reading = await follow('/api/stream', { cookie })
  await clock.advance(12 * HOUR - 10_000)
  expect(reading.isOver).toBe(false)
  await clock.advance(20_000)
  await reading.over
  expect(await here.callerOf(token)).not.toBeNull()
})

test('open-stream-1: a stream ends when its browser logs out, in this process at once and in another after one poll (13.3.4)', async () => {
  const { token } = await tokenOf()
  const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: 'https://th.example' }
  const body = new URLSearchParams({ token, next: '/' }).toString()
  const logIn = async (): Promise<string> => {
    const login = await app.open('/login', { method: 'POST', body, headers })
    return (login.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
  }
  const [first, second, third] = [await logIn(), await logIn(), await logIn()]
  const readings = await Promise.all([first, second, third].map((cookie) => follow('/api/stream', { cookie })))
  await app.open('/logout', { method: 'POST', headers: { cookie: first, origin: 'https://th.example' } })
  await readings[0]?.over
  const [, id = ''] = second.split('.')
  await elsewhere.endLogin(id, clock.now() + HOUR)
  await clock.advance(10_000)
  await readings[1]?.over
  expect(readings[2]?.isOver).toBe(false)
})
