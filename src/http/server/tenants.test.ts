/** Two tenants on one server: with every operation and any id, one tenant can neither see nor change anything of the other. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { authSettings } from '#http/access/auth-settings.ts'
import { human } from '#manifest/human/humans.ts'
import { ROLES } from '#model/access/identity.ts'
import type { TenantId } from '#model/kernel/ids.ts'
import { type Answer, type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { until } from '#test/support/until.ts'

const AUTH = authSettings({ host: '127.0.0.1', publicUrl: 'https://th.example' }, 'k'.repeat(32))
/** A text in everything that the first tenant writes. */
const MARK = 'acme-secret-7f3a'

interface Person {
  readonly headers: Readonly<Record<string, string>>
  get(path: string): Promise<Answer>
  post(path: string, body: unknown): Promise<Answer>
}

let app: HttpApp
let acme: Person
let bolt: Person
let owned: { run: string; task: string; session: string; hash: string }

const person = async (tenant: string): Promise<Person> => {
  const intent = { tenant, name: `ana-${MARK}`, kind: 'user', roles: ROLES, groups: ['editors'] }
  const { token } = await app.trihand.tokens.create(tenant === 'acme' ? intent : { ...intent, name: 'ana' }, 'test')
  const headers = { authorization: `Bearer ${token}` }
  return { headers, get: (path) => app.ask(path, { headers }), post: (path, body) => app.post(path, body, headers) }
}

const seed = async (): Promise<typeof owned> => {
  const sent = await acme.post('/api/events', { type: 'letter.ready', data: { text: MARK }, subject: MARK })
  const [run = ''] = sent.body.runs as string[]
  const { body } = await until(
    () => acme.get('/api/tasks'),
    (answer) => answer.body.items.length === 1,
    { what: 'the task of acme is there' },
  )
  const task = body.items[0].id
  const service = await app.trihand.of('acme' as TenantId)
  const session = await (service as unknown as HttpApp['trihand']).sessions.create()
  return { run, task, session, hash: (await acme.get(`/api/tasks/${task}`)).body.shown_hash }
}

beforeAll(async () => {
  const review = human('review', { trigger: 'letter.ready', title: `Letter ${MARK}`, assign: 'group:editors' })
  app = await openApp(
    {
      name: 'letters',
      events: { 'letter.ready': null, 'order.placed': null },
      functions: [fn('double', { trigger: 'order.placed' }, ({ input }) => Number((input as { n: number }).n) * 2)],
      humans: [review],
    },
    undefined,
    { auth: AUTH },
  )
  acme = await person('acme')
  bolt = await person('bolt')
  owned = await seed()
})
afterAll(() => app.close())

/** Every operation with every id of the other tenant in its path. */
const attempts = async (): Promise<readonly { readonly method: string; readonly path: string }[]> => {
  const { paths } = (await app.ask('/openapi.json')).body
  return Object.entries<object>(paths).flatMap(([path, methods]) =>
    Object.keys(methods).flatMap((method) =>
      [owned.run, owned.task, owned.session, owned.run.slice(-12), 'review'].map((id) => ({
        method: method.toUpperCase(),
        path: path.replaceAll(/\{\w+\}/g, id),
      })),
    ),
  )
}

const NEUTRAL = /^\/(login|logout|health|openapi|hooks|asyncapi|llms|metrics)/

describe('tenant-1: another tenant', () => {
  test('reads nothing of the first one, with any operation and any id', async () => {
    for (const { method, path } of await attempts()) {
      if (method !== 'GET' || NEUTRAL.test(path) || path.endsWith('/stream')) continue
      const response = await app.open(path, { headers: bolt.headers })
      expect([path, (await response.text()).includes(MARK) && !path.includes('manifest')]).toEqual([path, false])
    }
    expect((await bolt.get('/api/runs')).body.items).toEqual([])
    expect((await bolt.get(`/api/runs/${owned.run}`)).status).toBe(404)
    expect((await bolt.get(`/api/tasks/${owned.task}`)).status).toBe(404)
  })

  test('changes nothing of the first one, with any operation and any id', async () => {
    const before = [
      (await acme.get(`/api/runs/${owned.run}/facts`)).body,
      (await acme.get(`/api/tasks/${owned.task}`)).body,
      (await acme.get('/api/tokens')).body,
    ]
    const bodies = [
      {},
      { reason: 'x' },
      { action: 'approve', shown_hash: owned.hash },
      { step: 'ask', verdict: 'abort' },
      { to: ['user:ana'] },
      { decisions: [{ task: owned.task, action: 'approve', shown_hash: owned.hash }] },
    ]
    for (const { method, path } of await attempts()) {
      if (method === 'GET' || NEUTRAL.test(path)) continue
      for (const sent of bodies) {
        const headers = { ...bolt.headers, 'content-type': 'application/json' }
        const response = await app.open(path, { method, headers, body: JSON.stringify(sent) })
        expect([path, (await response.text()).includes(MARK)]).toEqual([path, false])
      }
    }
    const after = [
      (await acme.get(`/api/runs/${owned.run}/facts`)).body,
      (await acme.get(`/api/tasks/${owned.task}`)).body,
      (await acme.get('/api/tokens')).body,
    ]
    expect(after).toEqual(before)
  })

  test('receives no notices of the first one', async () => {
    const heard = await app.open('/api/stream', { headers: bolt.headers })
    const reader = heard.body?.getReader()
    const first = new TextDecoder().decode((await reader?.read())?.value)
    expect(first).toContain('hello')
    await acme.post('/api/events', { type: 'letter.ready', data: { text: MARK } })
    await bolt.post('/api/events', { type: 'order.placed', data: { n: 1 } })
    const own = new TextDecoder().decode((await reader?.read())?.value)
    await reader?.cancel()
    expect(own).toMatch(/"topic":"(events|runs)"/)
    const { body } = await bolt.get('/api/runs')
    for (const id of own.match(/run_[0-9a-f]{32}/g) ?? []) expect(body.items[0].id).toBe(id)
  })

  test('sees no workers, and cannot drain one', async () => {
    expect((await bolt.get('/api/workers')).body.items).toEqual([])
    const { id } = app.trihand.worker
    expect((await bolt.post(`/api/workers/${id}/drain`, {})).status).toBe(404)
  })

  test('has access to its own tokens only, and cannot create any for others', async () => {
    const intent = { name: 'x', kind: 'user', roles: ['viewer'] }
    expect((await bolt.post('/api/tokens', { ...intent, tenant: 'acme' })).body).toMatchObject({
      code: 'TENANT_MISMATCH',
    })
    const [theirs] = (await acme.get('/api/tokens')).body.items
    const { status } = await app.ask(`/api/tokens/${theirs.id}`, { method: 'DELETE', headers: bolt.headers })
    expect(status).toBe(404)
  })
})

test('each tenant has its own runs of the same functions: they begin, wait, are decided and end in it', async () => {
  const sent = await acme.post('/api/events', { type: 'order.placed', data: { n: 21 } })
  const ended = await until(
    () => acme.get(`/api/runs/${sent.body.runs[0]}`),
    ({ body }) => body.status === 'success',
    { what: 'the run of acme ends' },
  )
  expect(ended.body.output).toBe(42)
  const decided = await acme.post(`/api/tasks/${owned.task}/decision`, { action: 'approve', shown_hash: owned.hash })
  expect(decided.status).toBe(200)
  await until(
    () => acme.get(`/api/runs/${owned.run}`),
    ({ body }) => body.status === 'success',
    { what: 'the run that waited ends' },
  )
  const same = { type: 'order.placed', id: 'one', source: 'shop', data: { n: 1 } }
  expect((await acme.post('/api/events', same)).status).toBe(202)
  expect((await bolt.post('/api/events', same)).status).toBe(202)
  expect((await bolt.post('/api/events', same)).status).toBe(200)
})
