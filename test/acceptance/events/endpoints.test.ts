/** Webhook endpoints over real HTTP: notified once an event is stored, again with the same id, through crashes, until they accept or are off. */
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { webhookNotifier } from '#adapters/notify/webhook.ts'
import { noticeFunctions } from '#executors/workflow/notices.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { LOCAL_TENANT, runId } from '#model/kernel/ids.ts'
import type { NoticeDelivery } from '#ports/notifier.ts'
import { Inbox, person } from '#test/support/serving/inbox.ts'
import { type Got, type Receiver, startReceiver } from '#test/support/serving/receiver.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { until } from '#test/support/until.ts'
import { startTestSystem, type TestStore, type TestSystem } from '#testing/system.ts'

const SECRET = `whsec_${Buffer.from('a secret of 24 bytes....').toString('base64')}`
const HANDLER = 'notify-webhook-books'
const PATIENCE_MS = 60_000
const olga = person('olga', 'operators')

let receiver: Receiver

beforeEach(async () => {
  receiver = await startReceiver('books.test')
})
afterEach(() => receiver.close())

const open = async (place: TestStore, answer?: () => NoticeDelivery) => {
  const now = (): number => system.clock.now()
  const route = {
    name: HANDLER,
    events: ['paid'],
    notifier:
      answer === undefined
        ? webhookNotifier({ url: receiver.url('/in'), secrets: [SECRET], publicUrl: null }, receiver.wayOut(), now)
        : { deliverNotice: async () => answer() },
    health: {
      address: receiver.url('/in'),
      read: (...asked: Parameters<TestSystem['store']['reader']['document']>) => system.store.reader.document(...asked),
      now,
    },
  }
  const source: SystemSource = {
    name: 'shop',
    events: { paid: null },
    functions: noticeFunctions([route], () => 0.5),
  }
  const system: TestSystem = await startTestSystem(source, place)
  /** Idle: every run has ended or is parked. */
  const quiet = async (): Promise<void> => {
    await system.settle()
    await system.run(() =>
      until(
        () => system.engine.activeRunCount,
        (count) => count === 0,
        { what: 'nothing is in memory', timeoutMs: PATIENCE_MS },
      ),
    )
    await system.settle()
  }
  const statuses = async (): Promise<readonly string[]> => {
    const query = { tenant: LOCAL_TENANT, status: null, handler: HANDLER, before: null, limit: 10 }
    const runs = await system.run(() => system.store.reader.runs(query))
    return runs.map(({ status }) => status)
  }
  const tried = async (times: number): Promise<void> => {
    await system.run(() =>
      until(
        () => receiver.got.length,
        (count) => count >= times,
        { what: `${times} tries`, timeoutMs: PATIENCE_MS },
      ),
    )
    await quiet()
  }
  const pay = async (order: string): Promise<void> => {
    await system.send({ type: 'paid', data: { order } })
    await quiet()
  }
  /** Advances exactly to the next try: while one is in flight, time does not move. */
  const later = async (duration: string, tries = 0): Promise<void> => {
    await system.advance(duration)
    await tried(tries)
  }
  return { system, inbox: new Inbox(system), pay, later, tried, quiet, statuses }
}

const isSigned = ({ headers, body }: Got): boolean => {
  const [id, stamp] = [String(headers['webhook-id']), Number(headers['webhook-timestamp'])]
  return headers['webhook-signature'] === new Webhook(SECRET).sign(id, new Date(stamp * 1_000), body)
}

onEveryStore('endpoints', (store) => {
  test('an endpoint that fails three times receives exactly one success, under one id, each try signed, across a crash', async () => {
    receiver.answers.push(503, 500, 404)
    const { system, pay, later, statuses } = await open(store())
    await pay('o-1')
    await later('5s', 2)
    await system.crash(undefined, { down: '4m' })
    await later('1m', 3)
    await later('30m', 4)
    await later('5d')
    expect(receiver.got.map(({ status }) => status)).toEqual([503, 500, 404, 200])
    expect(new Set(receiver.got.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
    expect(receiver.got.map(isSigned)).toEqual([true, true, true, true])
    expect(JSON.parse(receiver.got[3]?.body ?? '')).toMatchObject({ type: 'paid', data: { order: 'o-1' } })
    expect(await statuses()).toEqual(['success'])
    await system.close()
  })

  test('endpoint-1: 410 switches an endpoint off; nothing more is sent until an operator switches it on', async () => {
    receiver.answers.push(410)
    const { system, inbox, pay, later, tried, statuses } = await open(store())
    await pay('o-1')
    await pay('o-2')
    await later('1d')
    expect(receiver.got).toHaveLength(1)
    expect(await statuses()).toEqual(['success', 'waiting'])
    const task = await inbox.only()
    expect(await inbox.row(task)).toMatchObject({ title: `${HANDLER} is switched off`, addresses: ['group:operators'] })
    await inbox.decide(task, olga, { action: 'switch_on' })
    await tried(2)
    await pay('o-3')
    expect(receiver.got.map(({ body }) => JSON.parse(body).data.order)).toEqual(['o-1', 'o-1', 'o-3'])
    expect(await statuses()).toEqual(['success', 'success', 'success'])
    await system.close()
  })

  test('endpoint-1: an operator may leave an endpoint off', async () => {
    receiver.answers.push(410)
    const { system, inbox, pay, quiet } = await open(store())
    await pay('o-1')
    await inbox.decide(await inbox.only(), olga, { action: 'leave_off' })
    await quiet()
    await pay('o-2')
    expect(receiver.got).toHaveLength(1)
    await system.close()
  })

  test('a delivery that was given up is tried once more when its run is retried, and again if that fails, too', async () => {
    let tries = 0
    let isUp = false
    const { system, pay, later, quiet, statuses } = await open(store(), () => {
      tries++
      return isUp ? { kind: 'delivered', detail: '200' } : { kind: 'failed', detail: '503' }
    })
    await pay('o-1')
    await later('4d')
    expect([tries, await statuses()]).toEqual([10, ['failed']])
    const query = { tenant: LOCAL_TENANT, status: null, handler: HANDLER, before: null, limit: 1 }
    const [run] = await system.run(() => system.store.reader.runs(query))
    const retry = async (): Promise<void> => {
      await system.run(() => system.engine.retry(run?.id ?? runId('0'), 'olga'))
      await quiet()
    }
    await retry()
    expect([tries, await statuses()]).toEqual([11, ['failed']])
    isUp = true
    await retry()
    expect([tries, await statuses()]).toEqual([12, ['success']])
    await system.close()
  })

  test('endpoint-1: five days of failures switch an endpoint off, over several events, and ask an operator once', async () => {
    let tries = 0
    const { system, inbox, pay, later } = await open(store(), () => {
      tries++
      return { kind: 'failed', detail: '503' }
    })
    await pay('o-1')
    await later('4d')
    expect(tries).toBe(10)
    await pay('o-2')
    await later('1d')
    expect(await inbox.list()).toEqual([])
    // The first try of this event after the fifth day.
    await later('8h')
    const tried = tries
    expect(await inbox.list()).toHaveLength(1)
    await later('6d')
    await pay('o-3')
    expect(tries).toBe(tried)
    expect(await inbox.list()).toHaveLength(1)
    await system.close()
  })
})
