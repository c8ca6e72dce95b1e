/** A run with a callback posts its end over real HTTP: signed, under the run's id, through crashes. */
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { webhookNotifiers } from '#adapters/notify/webhook.ts'
import { SystemIds } from '#adapters/system/ids.ts'
import { withNotices } from '#compose/notices.ts'
import { fn } from '#executors/workflow/function.ts'
import { callbackNotices } from '#executors/workflow/notices.ts'
import { CALLBACK } from '#manifest/define/callback.ts'
import type { SystemSource } from '#manifest/define/define.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { FinalError } from '#model/run/step-failure.ts'
import { type Got, type Receiver, startReceiver } from '#test/support/serving/receiver.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { until } from '#test/support/until.ts'
import { startTestSystem, type TestStore, type TestSystem } from '#testing/system.ts'

const SECRET = `whsec_${Buffer.from('a secret of 24 bytes....').toString('base64')}`
const PATIENCE_MS = 60_000

let receiver: Receiver

beforeEach(async () => {
  receiver = await startReceiver('asker.test')
})
afterEach(() => receiver.close())

const callbackUrl = (): string => receiver.url('/ended')

const WORK = [
  fn('work', {}, ({ input }) => input),
  fn('fail', {}, () => {
    throw new FinalError('no')
  }),
  fn('nap', {}, ({ step }) => step.sleep('long', '1d')),
  fn('line', { overlap: 'buffer_one' }, async ({ input, step }) => {
    await step.sleep('long', '1h')
    return input
  }),
]

const open = async (place: TestStore) => {
  const sender = {
    secrets: [SECRET],
    publicUrl: 'https://us.test',
    dataPath: ({ id }: { id: string }) => `/runs/${id}`,
  }
  const notifiers = webhookNotifiers(sender, () => system.clock.now())
  const told = callbackNotices(
    CALLBACK,
    async (url) => notifiers(url, receiver.wayOut()),
    () => 0.5,
  )
  const system: TestSystem = await startTestSystem({ name: 'asked', functions: [...WORK, told] }, place)
  const tried = async (times: number): Promise<readonly Got[]> => {
    await system.settle()
    const isQuiet = () => receiver.got.length >= times && system.engine.activeRunCount === 0
    await system.run(() => until(isQuiet, (is) => is, { what: `${times} tries`, timeoutMs: PATIENCE_MS }))
    await system.settle()
    return receiver.got
  }
  return { system, tried }
}

const isSigned = ({ headers, body }: Got): boolean => {
  const [id, stamp] = [String(headers['webhook-id']), Number(headers['webhook-timestamp'])]
  return headers['webhook-signature'] === new Webhook(SECRET).sign(id, new Date(stamp * 1_000), body)
}

const idOf = ({ headers }: Got): unknown => headers['webhook-id']
const dataOf = ({ body }: Got): unknown => JSON.parse(body).data

onEveryStore('callback', (store) => {
  test('[F2] ending-2: the end is posted under the id of the run, signed, repeated until accepted, across crashes, and then no more', async () => {
    receiver.answers.push(503, 500)
    const { system, tried } = await open(store())
    const run = await system.start('work', { n: 7 }, { callbackUrl: callbackUrl() })
    await tried(1)
    await system.crash()
    await system.advance('5s')
    await tried(2)
    await system.crash(undefined, { down: '6m' })
    await tried(3)
    await system.advance('5d')
    expect(receiver.got.map(idOf)).toEqual([run, run, run])
    expect(receiver.got.map(isSigned)).toEqual([true, true, true])
    expect(JSON.parse(receiver.got[2]?.body ?? '')).toMatchObject({
      type: 'trihand.run.completed',
      id: run,
      subject: run,
      data: { run_id: run, handler: 'work', status: 'success', output: { n: 7 }, error: null },
    })
    await system.close()
  })

  test('[F2] a failure, the cancel of a run without a holder, and a second end after a retry are posted', async () => {
    const { system, tried } = await open(store())
    const failed = await system.start('fail', null, { callbackUrl: callbackUrl() })
    await tried(1)
    await system.run(() => system.engine.retry(failed, 'ana'))
    await tried(2)
    const parked = await system.start('nap', null, { callbackUrl: callbackUrl() })
    await system.settle()
    await system.run(() => system.engine.cancel(parked, 'ana', 'enough'))
    await tried(3)
    expect(receiver.got.map(idOf)).toEqual([failed, failed, parked])
    expect(receiver.got.map(dataOf)).toMatchObject([
      { status: 'failed' },
      { status: 'failed' },
      { status: 'cancelled' },
    ])
    await system.close()
  })

  test('[F2] a caller whose run waits at a gate gets its end, also if it is turned away', async () => {
    const { system, tried } = await open(store())
    const runs = []
    for (const n of [1, 2, 3]) runs.push(await system.start('line', n, { callbackUrl: callbackUrl() }))
    await tried(1)
    expect(receiver.got.map(idOf)).toEqual([runs[1]])
    await system.advance('1h')
    await tried(2)
    await system.advance('1h')
    await tried(3)
    expect(receiver.got.slice(1).map(idOf)).toEqual([runs[0], runs[2]])
    expect(receiver.got.map(dataOf)).toMatchObject([{ status: 'cancelled' }, { output: 1 }, { output: 3 }])
    await system.close()
  })

  test('[F2] a large output is left out, to be fetched from the run', async () => {
    const { system, tried } = await open(store())
    const run = await system.start('work', 'x'.repeat(30_000), { callbackUrl: callbackUrl() })
    const [only] = await tried(1)
    expect(JSON.parse(only?.body ?? '')).toMatchObject({ id: run, data_url: `https://us.test/runs/${run}` })
    await system.close()
  })

  test('[F2] an address in the local network is never reached: the tries of its run say so', async () => {
    const world = {
      ...{ environment: { TRIHAND_CALLBACK_SECRET: SECRET }, ids: new SystemIds(), document: async () => null },
      clock: { now: () => 0 },
    }
    const source: SystemSource = await withNotices({ name: 'asked', functions: WORK }, {}, world)
    const system = await startTestSystem(source, store())
    await system.start('work', 1, { callbackUrl: `http://127.0.0.1:${new URL(callbackUrl()).port}/ended` })
    await system.settle()
    const query = { tenant: LOCAL_TENANT, status: null, handler: CALLBACK, before: null, limit: 10 } as const
    const parked = () => system.store.reader.runs(query)
    const [told] = await system.run(() =>
      until(parked, ([run]) => run?.status === 'waiting', { timeoutMs: PATIENCE_MS }),
    )
    if (told === undefined) throw new Error('nobody is told')
    const facts = await system.run(() => system.store.reader.facts(LOCAL_TENANT, told.id, { after: 0, limit: 10 }))
    expect(facts.map(({ body }) => body).join()).toContain('127.0.0.1 is not a public address')
    expect(receiver.got).toEqual([])
    await system.close()
  })

  test('an invalid address, a missing signing secret and a forged callback are refused, and nothing begins', async () => {
    const { system } = await open(store())
    const refused = (name: string, url?: string) =>
      system.start(name, 1, url === undefined ? {} : { callbackUrl: url }).then(
        () => 'nothing was refused',
        ({ code }: { code: string }) => code,
      )
    for (const url of [
      'asker.test/in',
      'ftp://asker.test',
      'https://ana:secret@asker.test',
      `https://a/${'x'.repeat(2_048)}`,
    ])
      expect(await refused('work', url)).toBe('INPUT_INVALID')
    expect(await refused(CALLBACK)).toBe('NOT_FOUND')
    const run = await system.start('work', 1, { callbackUrl: callbackUrl() })
    await system.crash({ name: 'asked', functions: WORK })
    expect(await refused('work', callbackUrl())).toBe('CALLBACK_UNSIGNED')
    expect(await system.look(run)).toMatchObject({ status: 'success' })
    await system.close()
  })
})
