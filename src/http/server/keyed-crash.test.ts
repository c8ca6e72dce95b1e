/** Requests with a key whose server dies before it answers: a repeat answers with the work that was done, which is done once. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import { human } from '#manifest/human/humans.ts'
import { SERVER_TENANT } from '#model/kernel/ids.ts'
import { type Answer, type HttpApp, openApp } from '#test/support/serving/http-app.ts'
import { type MortalRequests, withRequests } from '#test/support/stores/mortal-requests.ts'
import { until } from '#test/support/until.ts'

const SYSTEM = {
  name: 'shop',
  open: true,
  functions: [
    fn('add', { trigger: 'order.placed' }, () => 1),
    fn('pay', { circuit: { key: 'paying' } }, () => 1),
    fn('wait', {}, ({ step }) => step.sleep('nap', '1d')),
    fn('fail', { retry: { maxAttempts: 1 } }, () => {
      throw new Error('no')
    }),
    fn('gated', { idempotency: { key: 'payload' } }, () => 1),
    fn('late', { overlap: 'buffer_all' }, ({ step }) => step.sleep('nap', '1d')),
    fn('drop', { source: { queue: 'bad' } }, () => {
      throw new Error('no')
    }),
  ],
  humans: [human('sign', { trigger: 'letter.ready', assign: 'user:ana', actions: ['approve'] })],
  queues: [{ name: 'orders' }, { name: 'bad', maxAttempts: 1 }],
  webhooks: [
    {
      ...{ name: 'till', path: '/hooks/till', auth: 'none', unsigned: true, emits: 'till.rung' },
      transform: () => {
        if (isOdd) throw new Error('odd')
        return { n: 1 }
      },
    },
  ],
  schedules: [{ name: 'often', every: '1h', function: 'add' }],
}
/** True: the transform of the webhook fails. */
let isOdd = false
const ANA = { 'x-trihand-user': 'ana' }

let app: HttpApp
let requests: MortalRequests
beforeEach(async () => {
  app = await openApp(
    SYSTEM as never,
    withRequests((mortal) => (requests = mortal)),
  )
})
afterEach(() => app.close())

let keys = 0
/** Returns the response of the process that dies, that of the next one, and that of a repeat. */
const thrice = async (path: string, body: unknown): Promise<readonly Answer[]> => {
  const key = { 'idempotency-key': `k${keys++}`, ...ANA }
  requests.isDying = true
  const first = await app.post(path, body, key)
  expect(requests.isDying).toBe(false)
  const second = await app.post(path, body, key)
  const third = await app.post(path, body, key)
  expect(third.headers.get('idempotency-replayed')).toBe('true')
  expect([third.status, third.body]).toEqual([second.status, second.body])
  return [first, second, third]
}

/** Expects the same response from both processes. */
const twice = async (path: string, body: unknown): Promise<Answer['body']> => {
  const [first, second] = await thrice(path, body)
  expect([second?.status, second?.body]).toEqual([first?.status, first?.body])
  expect(first?.status).toBeLessThan(300)
  return first?.body
}

const runsOf = async (handler: string): Promise<number> =>
  (await app.ask(`/api/runs?handler=${handler}`)).body.items.length

const started = async (name: string, status: string): Promise<string> => {
  const { body } = await app.post('/api/runs', { name })
  await app.when(body.id, status)
  return body.id
}

describe('[L2] after a crash a keyed request answers with the work that was done (14.6)', () => {
  test('a run is started once, also behind a flow gate and in a queue of buffered runs', async () => {
    expect((await app.ask(`/api/runs/${(await twice('/api/runs', { name: 'add' })).id}`)).status).toBe(200)
    await twice('/api/runs', { name: 'gated', input: 7 })
    await twice('/api/runs', { name: 'late' })
    await twice('/api/runs', { name: 'late' })
    expect([await runsOf('add'), await runsOf('gated'), await runsOf('late')]).toEqual([1, 1, 1])
    const { body } = await app.ask('/api/runs?limit=200')
    const ids = body.items.map(({ id }: { id: string }) => id)
    expect(ids).toEqual(ids.toSorted().toReversed())
  })

  test('an event without an id is sent once; one with an id is answered as a duplicate', async () => {
    const sent = await twice('/api/events', { type: 'order.placed', data: { n: 1 } })
    expect(sent).toMatchObject({ duplicate: false, runs: [expect.any(String)] })
    const [first, second] = await thrice('/api/events', { type: 'order.placed', id: 'mine', data: { n: 2 } })
    expect(second?.body).toEqual({ ...first?.body, duplicate: true })
    expect(await runsOf('add')).toBe(2)
  })

  test('a message, a filter, a plan and a job are created once', async () => {
    expect(await twice('/api/queues/orders', { data: 1 })).toMatchObject({ duplicate: false })
    expect((await app.ask('/api/queues/orders')).body.length).toBe(1)
    await twice('/api/filters', { name: 'mine', screen: 'runs', terms: { status: 'failed' } })
    expect((await app.ask('/api/filters', { headers: ANA })).body.items).toHaveLength(1)
    await twice('/api/plans', { text: 'a. Add' })
    expect((await app.ask('/api/plans')).body.items).toHaveLength(1)
    const order = { action: 'pause', where: { handler: 'wait' } }
    const [first, second] = await thrice('/api/runs/bulk', order)
    expect([second?.status, second?.body.id]).toEqual([202, first?.body.id])
  })

  test('a plan is approved and run once', async () => {
    const made = await app.post('/api/plans', { text: 'a. Add' }, ANA)
    const at = `/api/plans/${made.body.id}`
    expect((await twice(`${at}/approve`, { hash: made.body.hash })).approval).not.toBeNull()
    await twice(`${at}/runs`, {})
    await until(
      () => app.ask(at),
      ({ body }) => body.runs[0]?.status === 'success',
      { what: 'the run of the plan has ended' },
    )
    expect((await app.ask(at)).body.runs).toHaveLength(1)
    expect((await twice(`${at}/discard`, {})).status).toBe('discarded')
  })

  test('work-1: a run is retried once, even if it has failed again meanwhile', async () => {
    const id = await started('fail', 'failed')
    const key = { 'idempotency-key': 'again', ...ANA }
    requests.isDying = true
    await app.post(`/api/runs/${id}/retry`, {}, key)
    await app.when(id, 'failed')
    expect((await app.post(`/api/runs/${id}/retry`, {}, key)).status).toBe(202)
    const { body } = await app.ask(`/api/runs/${id}/facts`)
    expect(body.items.filter(({ type }: { type: string }) => type === 'run.retried')).toHaveLength(1)
  })

  test('a run is rerun, paused, resumed and cancelled once', async () => {
    const id = await started('wait', 'waiting')
    const told = async (verb: string) => {
      const [first, second] = await thrice(`/api/runs/${id}/${verb}`, {})
      expect([first?.status, second?.status]).toEqual([202, 202])
    }
    await told('pause')
    await told('resume')
    await told('cancel')
    await app.when(id, 'cancelled')
    const { body } = await app.ask(`/api/runs/${id}/facts`)
    const types = body.items.map(({ type }: { type: string }) => type)
    for (const type of ['run.paused', 'run.resumed', 'run.cancel_requested'])
      expect(types.filter((one: string) => one === type)).toHaveLength(1)
    const again = await twice(`/api/runs/${id}/rerun`, {})
    expect(again.id).not.toBe(id)
    expect(await runsOf('wait')).toBe(2)
  })

  test('a schedule is run now and backfilled once', async () => {
    await thrice('/api/schedules/often/run', {})
    await until(
      () => runsOf('add'),
      (count) => count > 0,
      { what: 'the run has begun' },
    )
    await thrice('/api/schedules/often/backfill', { from: '2026-01-01T00:00:00Z', to: '2026-01-01T00:30:00Z' })
    await until(
      () => runsOf('add'),
      (count) => count > 1,
      { what: 'the slot was filled' },
    )
    expect(await runsOf('add')).toBe(2)
    expect((await twice('/api/schedules/often/pause', {})).status).toBe('paused')
    expect((await twice('/api/schedules/often/resume', {})).status).toBe('live')
  })

  test('messages are revived once, and the answer says how many', async () => {
    const dead = (count: number) =>
      until(
        () => app.ask('/api/queues/bad'),
        ({ body }) => body.dead === count,
        { what: `${count} are given up` },
      )
    for (const n of [1, 2]) await app.post('/api/queues/bad', { data: n })
    await dead(2)
    const [first, second] = await thrice('/api/queues/bad/revive', {})
    expect([first?.body, second?.body]).toEqual([{ revived: 2 }, { revived: 2 }])
  })

  test('tasks are claimed, put off and decided once', async () => {
    await app.started('letter.ready')
    const { body } = await until(
      () => app.ask('/api/tasks', { headers: ANA }),
      (answer) => answer.body.items.length === 1,
      { what: 'the task is there' },
    )
    const [{ id }] = body.items
    const task = (await app.ask(`/api/tasks/${id}`, { headers: ANA })).body
    for (const verb of ['view', 'claim', 'unclaim']) await twice(`/api/tasks/${id}/${verb}`, {})
    // Putting it off twice to the same instant records two facts, and changes nothing else.
    const put = await thrice(`/api/tasks/${id}/follow-up`, { until: '2099-01-01T00:00:00Z' })
    expect(put[1]?.body).toEqual({ ...put[0]?.body, version: expect.any(Number) })
    const decisions = [{ task: id, action: 'approve', shown_hash: task.shown_hash }]
    expect((await twice('/api/tasks/decisions', { decisions })).items).toMatchObject([{ status: 200 }])
  })

  test('a handler is paused and resumed, a circuit breaker is closed and a delivery is replayed once', async () => {
    await twice('/api/handlers/gated/pause', {})
    await twice('/api/handlers/gated/resume', {})
    await twice('/api/circuits/paying/reset', {})
    isOdd = true
    expect((await app.post('/hooks/till', { n: 1 }, { 'webhook-id': 'd1' })).status).toBe(422)
    isOdd = false
    const [first, second] = await thrice('/api/webhooks/till/replay', { delivery: 'd1' })
    expect(second?.body).toEqual({ ...first?.body, duplicate: true })
    expect((await app.ask('/api/events?type=till.rung')).body.items).toHaveLength(1)
  })

  test('all work is stopped once, and resumed once', async () => {
    expect((await thrice('/api/stop', { reason: 'fire' })).map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await thrice('/api/stop/lift', {})).map(({ status }) => status)).toEqual([200, 200, 200])
  })

  test('a token is not created again by a second attempt, which is refused because the secret of the first is lost', async () => {
    const [first, second] = await thrice('/api/tokens', { name: 'a', kind: 'service', roles: ['viewer'] })
    expect([first?.status, second?.status, second?.body.code]).toEqual([201, 409, 'ANSWER_NOT_KEPT'])
  })
})

describe('where other processes write the same ledger (14.6)', () => {
  let now = 0
  beforeEach(async () => {
    await app.close()
    now = Date.now()
    const over = { isShared: true, leaseMs: 15_000, clock: { now: () => now } }
    app = await openApp(
      SYSTEM as never,
      withRequests((mortal) => (requests = mortal), over),
    )
  })
  const start = () => app.post('/api/runs', { name: 'add' }, { 'idempotency-key': 'k' })

  test('requests-1: a repeat must wait while the first attempt may be alive, and no longer than its bound', async () => {
    requests.isDying = true
    const { body } = await start()
    now += 5_000
    const early = await start()
    expect([early.status, early.body.code, early.headers.get('retry-after')]).toEqual([
      ...[409, 'REQUEST_IN_PROGRESS', '10'],
    ])
    now += 10_000
    expect((await start()).body).toEqual(body)
    expect(await runsOf('add')).toBe(1)
  })

  test('requests-5: a key that an older program took and never answered is refused with a clear code after its bound', async () => {
    requests.isDying = true
    const name = await nameOf(start)
    await app.trihand.requests.forgetOlderThan(-60_000)
    const turn = (await app.trihand.reader.document(SERVER_TENANT, 'trihand.request.forgotten', name)) as never as {
      turn: number
    }
    const server = await serverSend()
    const data = { content: 'as an older program hashed it' }
    await server({ type: 'trihand.request.began', source: 'trihand', id: `${name}.${turn.turn}`, data })
    expect((await start()).body.code).toBe('REQUEST_IN_PROGRESS')
    now += 60_000
    expect((await start()).body.code).toBe('REQUEST_UNANSWERED')
    expect((await start()).status).toBe(409)
  })

  const serverSend = async () => {
    const { send } = Reflect.get(app.trihand.requests, 'deps') as {
      send: (event: object, options: object) => Promise<unknown>
    }
    return (event: object) => send(event, { isOwn: true })
  }

  /** Returns the key of the request's document in the ledger. */
  const nameOf = async (ask: () => Promise<unknown>): Promise<string> => {
    await ask()
    const [one] = await app.trihand.reader.documents({
      ...{ tenant: SERVER_TENANT, table: 'trihand.request', after: null, limit: 1 },
    })
    return one?.key ?? ''
  }
})
