/** Idempotency-Key over the real application: one effect, the first response, and what is refused. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { TrihandError } from '#model/kernel/errors.ts'
import { SERVER_TENANT } from '#model/kernel/ids.ts'
import { type Answer, type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import type { Service } from './service.ts'

const faults: TrihandError[] = []
/** A service whose `start` fails with the queued faults before anything is written. */
const failing = (service: Service): Service => ({
  ...service,
  start: async (...asked) => {
    const fault = faults.pop()
    if (fault !== undefined) throw fault
    return service.start(...asked)
  },
})

let app: HttpApp
beforeEach(async () => {
  app = await openApp({ name: 'shop', open: true, functions: [fn('add', {}, () => 1)] }, failing)
})
afterEach(() => app.close())

const start = (key: string, input: unknown = 1, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  app.post('/api/runs', { name: 'add', input }, { 'idempotency-key': key, ...headers })

const ALL = { tenant: SERVER_TENANT, after: null, limit: 9 }

const runs = async (): Promise<number> => (await app.ask('/api/runs')).body.items.length

test('requests-1: fifty clients with one key start one run', async () => {
  const answers = await Promise.all(Array.from({ length: 50 }, () => start('k')))
  const done = answers.filter(({ status }) => status === 201)
  expect(done).toHaveLength(50)
  expect(new Set(done.map(({ body }) => body.id)).size).toBe(1)
  expect(await runs()).toBe(1)
})

test('a repeat gets the first response, marked as a replay', async () => {
  const first = await start('k')
  const second = await start('k')
  expect(first.headers.get('idempotency-replayed')).toBeNull()
  expect([second.status, second.body, second.headers.get('location')]).toEqual([
    ...[201, first.body, first.headers.get('location')],
  ])
  expect(second.headers.get('idempotency-replayed')).toBe('true')
  expect(await runs()).toBe(1)
})

test('requests-2: another body, caller or path under the same key is another request, or is refused', async () => {
  await start('k')
  expect((await start('k', 2)).body).toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' })
  expect((await start('k', 1, { 'x-trihand-user': 'ana' })).headers.get('idempotency-replayed')).toBeNull()
  const sent = await app.post('/api/events', { type: 'order.placed' }, { 'idempotency-key': 'k' })
  expect(sent.status).toBe(202)
  expect(await runs()).toBe(2)
})

test('a refusal is stored as the response, too', async () => {
  const ask = () => app.post('/api/runs', { name: 'nobody' }, { 'idempotency-key': 'k' })
  expect((await ask()).status).toBe(404)
  const again = await ask()
  expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([404, 'true'])
})

test('requests-3: an attempt that ends without a response frees its key, and the next one does the work', async () => {
  faults.push(new TrihandError('LEDGER_UNAVAILABLE', 'away', { outcome: 'not_done' }))
  expect((await start('a')).status).toBe(503)
  expect((await start('a')).status).toBe(201)
  faults.push(new TrihandError('LEDGER_UNAVAILABLE', 'away', { outcome: 'unknown' }))
  expect((await start('b')).status).toBe(503)
  const second = await start('b')
  expect(second.status).toBe(201)
  expect((await start('b')).body).toEqual(second.body)
  expect(await runs()).toBe(2)
})

test('keyed-2: a repeat of the request that created a token is refused, since its secret is never stored (14.6)', async () => {
  const make = () => app.post('/api/tokens', { name: 'a', kind: 'user', roles: ['viewer'] }, { 'idempotency-key': 'k' })
  const [one, other] = [await make(), await make()]
  expect(one.status).toBe(201)
  expect([other.status, other.body.code]).toEqual([409, 'ANSWER_NOT_KEPT'])
  expect((await app.ask('/api/tokens')).body.items).toHaveLength(1)
  const kept = await app.trihand.reader.documents({ ...ALL, table: 'trihand.request' })
  expect(JSON.stringify(kept)).not.toContain(one.body.token)
})

test('an invalid key is refused, and requests with keys are not visible as events', async () => {
  expect((await start('x'.repeat(300))).body).toMatchObject({ code: 'INPUT_INVALID' })
  await start('k')
  expect((await app.ask('/api/events')).body.items).toEqual([])
})

describe('requests-4: the response to an old request', () => {
  const kept = () => app.trihand.reader.documents({ ...ALL, table: 'trihand.request' })
  /** Forgets all of them: the limit is a minute in the future. */
  const forgetAll = (): Promise<number> => app.trihand.requests.forgetOlderThan(-60_000)

  test('is kept until the retention time has passed', async () => {
    const first = await start('k')
    expect(await app.trihand.requests.forgetOlderThan(3_600_000)).toBe(0)
    expect((await start('k')).body).toEqual(first.body)
  })

  test('is forgotten after it: the key starts new work, once, each time it is reused', async () => {
    const [first] = [await start('k'), await start('other')]
    expect(await forgetAll()).toBe(2)
    expect(await kept()).toEqual([])
    const second = await start('k', 2)
    expect(second.status).toBe(201)
    expect(second.body).not.toEqual(first.body)
    expect((await start('k', 2)).headers.get('idempotency-replayed')).toBe('true')
    expect(await forgetAll()).toBe(1)
    expect((await start('k', 3)).headers.get('idempotency-replayed')).toBeNull()
    expect(await runs()).toBe(4)
  })

  test('is also forgotten if the key was released before', async () => {
    faults.push(new TrihandError('LEDGER_UNAVAILABLE', 'gone', { outcome: 'not_done' }))
    expect((await start('k')).status).toBe(503)
    expect(await forgetAll()).toBe(1)
    expect((await start('k')).status).toBe(201)
    expect((await start('k')).headers.get('idempotency-replayed')).toBe('true')
  })
})
