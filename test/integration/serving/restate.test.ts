/**
 * Restate as dispatcher, against a real server: the conformance suite, several workers on one Restate, crashes of a worker and of the
 * server.
 */
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { connect } from 'node:http2'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type RestateOptions, restate } from '#adapters/dispatch/restate/restate.ts'
import { openPostgres } from '#adapters/storage/postgres/open.ts'
import { SystemClock } from '#adapters/system/clock.ts'
import { SystemIds } from '#adapters/system/ids.ts'
import { joinEngine } from '#compose/assemble.ts'
import { fn } from '#executors/workflow/function.ts'
import { normalise } from '#manifest/define/define.ts'
import type { ClaimableId, RunId } from '#model/kernel/ids.ts'
import type { Dispatcher } from '#ports/dispatcher.ts'
import { freePort } from '#test/support/free-port.ts'
import { type RestateServer, startRestate } from '#test/support/serving/restate.ts'
import { freshSchema } from '#test/support/stores/postgres-schema.ts'
import { until } from '#test/support/until.ts'
import { dispatcherSuite } from '#testing/dispatcher-suite.ts'
import { newRun } from '#testing/ledger/builders.ts'

const clock = new SystemClock({ keepsAlive: false })
let server: RestateServer
let names = 0
const opened: Dispatcher[] = []

/** Systems with different names receive no wakes of each other, so every test uses its own name. */
const freshName = (): string => `test-${names++}`

const open = async (options: Partial<RestateOptions> = {}): Promise<Dispatcher> => {
  const { dispatcher } = await restate({ ingress: server.ingress, admin: server.admin, ...options })(clock)
  opened.push(dispatcher)
  return dispatcher
}

const receiver = () => {
  const received = new Map<ClaimableId, number>()
  return { received, receive: (run: ClaimableId) => void received.set(run, clock.now()) }
}

const wakeUntilReceived = (
  by: Dispatcher,
  run: ClaimableId,
  received: ReadonlyMap<ClaimableId, number>,
): Promise<boolean> =>
  until(
    () => {
      if (!received.has(run)) by.wake(run, clock.now())
      return received.has(run)
    },
    Boolean,
    { timeoutMs: 20_000, everyMs: 50, what: 'a wake that is received' },
  )

beforeAll(async () => {
  server = await startRestate()
})
afterEach(async () => {
  for (const dispatcher of opened.splice(0)) await dispatcher.stop()
})
afterAll(() => server.stop())

dispatcherSuite('restate', async () => ({
  dispatcher: await open({ name: freshName() }),
  clock,
  until: async (holds) => void (await until(holds, Boolean, { timeoutMs: 20_000 })),
  close: async () => {},
}))

describe('restate among processes', () => {
  test('a process that only sends wakes a worker elsewhere', async () => {
    const name = freshName()
    const [sender, worker] = [await open({ name }), await open({ name })]
    const { received, receive } = receiver()
    await worker.start(receive)
    const run = newRun()
    sender.wake(run, clock.now())
    await until(() => received.has(run), Boolean)
  })

  test('the last wakes of a stopping process are still delivered', async () => {
    const name = freshName()
    const [sender, worker] = [await open({ name }), await open({ name })]
    const { received, receive } = receiver()
    await worker.start(receive)
    const runs = Array.from({ length: 600 }, newRun)
    for (const run of runs) sender.wake(run, clock.now())
    await sender.stop()
    await until(
      () => received.size,
      (size) => size === runs.length,
    )
  })

  test('if the worker that Restate calls is gone, another takes over', async () => {
    const name = freshName()
    const [first, second] = [await open({ name }), await open({ name })]
    const there = receiver()
    await first.start(() => {})
    await second.start(there.receive)
    await first.stop()
    await wakeUntilReceived(second, newRun(), there.received)
    expect(there.received.size).toBe(1)
  })

  test('[R9] a scheduled wake survives a crash of the Restate server', async () => {
    const worker = await open({ name: freshName() })
    const { received, receive } = receiver()
    await worker.start(receive)
    const [soon, later] = [newRun(), newRun()]
    await wakeUntilReceived(worker, soon, received)
    const at = clock.now() + 1_500
    worker.wake(later, at)
    // A second wake follows in the same outbox: once it is received, the first one is on Restate's disk.
    await wakeUntilReceived(worker, newRun(), received)
    await server.crash()
    worker.wake(newRun(), clock.now())
    await server.start()
    await until(() => received.has(later), Boolean, { timeoutMs: 20_000 })
    expect(received.get(later)).toBeGreaterThanOrEqual(at)
    await wakeUntilReceived(worker, newRun(), received)
  })

  test('a system starts while Restate is down, and registers when Restate is back', async () => {
    await server.crash()
    const worker = await open({ name: freshName() })
    const { received, receive } = receiver()
    await worker.start(receive)
    await server.start()
    const run = newRun()
    await wakeUntilReceived(worker, run, received)
    expect([...received.keys()]).toContain(run)
  })

  test('a port in use is PORT_IN_USE', async () => {
    const port = await freePort()
    const [first, second] = [await open({ name: freshName(), port }), await open({ name: freshName(), port })]
    await first.start(() => {})
    await expect(second.start(() => {})).rejects.toMatchObject({ code: 'PORT_IN_USE' })
  })

  test('[S22] with identity keys an unsigned call is refused with 401', async () => {
    const port = await freePort()
    const identityKeys = ['publickeyv1_2G8dCQhArfvGpzPw5Vx2ALciR4xCLHfS5YaT93XjNxX9']
    const name = freshName()
    const { dispatcher } = await restate({ ingress: server.ingress, port, identityKeys, name })(clock)
    opened.push(dispatcher)
    const { received, receive } = receiver()
    await dispatcher.start(receive)
    expect(await statusOf(port, `/invoke/${name}-run/wake`)).toBe(401)
    expect(received.size).toBe(0)
  })

  test('[S22] calls of a server that signs with our key are accepted', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const signing = await startRestate({ identity: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() })
    const { ingress, admin } = signing
    const worker = await open({ ingress, admin, identityKeys: [publicKeyText(publicKey)] })
    const { received, receive } = receiver()
    await worker.start(receive)
    const run = newRun()
    await wakeUntilReceived(worker, run, received)
    expect([...received.keys()]).toEqual([run])
    await signing.stop()
  })
})

/** In Restate's format: the 32 raw bytes in base 58. */
const publicKeyText = (key: KeyObject): string => {
  const raw = key.export({ type: 'spki', format: 'der' }).subarray(-32)
  const digits = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
  let text = ''
  for (let rest = BigInt(`0x${raw.toString('hex')}`); rest > 0n; rest /= 58n) text = digits[Number(rest % 58n)] + text
  return `publickeyv1_${text}`
}

const statusOf = (port: number, path: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const session = connect(`http://127.0.0.1:${port}`)
    session.on('error', reject)
    const request = session.request({ ':path': path, ':method': 'POST' })
    request.on('response', (headers) => {
      resolve(headers[':status'])
      session.destroy()
    })
    request.end()
  })

const postgres = process.env['TRIHAND_TEST_PG_URL'] ?? ''

describe.skipIf(postgres === '')('a system on Postgres and Restate', () => {
  const HOURS = 3_600_000

  /** A process that never polls, so that only Restate can wake it. */
  const live = async (url: string, name: string) => {
    const { ledger, reader, blobs } = await openPostgres({ url, max: 4 })
    const dispatcher = await open({ name })
    const ids = new SystemIds()
    const system = normalise({ name: 'far', events: { 'order.placed': null }, functions: [nap] }, (text) =>
      ids.digest(text),
    )
    const rest = {
      durable: true,
      description: 'postgres',
      commit: { maxBatch: 256, maxInFlight: 2 },
      sweepMs: null,
      pollMs: HOURS,
    }
    const store = { ledger, reader, blobs, dispatcher, keepsInstants: true, ...rest }
    const engine = joinEngine(store, system, ids, clock, { leaseTtl: HOURS, drain: 0 })
    return { engine, close: () => engine.stop().then(() => ledger.close()) }
  }

  const nap = fn('nap', { trigger: 'order.placed' }, async ({ step }) => {
    await step.run('before', () => 'done')
    await step.sleep('nap', 300)
    return step.run('after', () => 'rested')
  })

  test('an event sent by one process starts its run in another, and Restate ends its sleep after the first worker is gone', async () => {
    const fresh = await freshSchema(postgres)
    const name = freshName()
    const [sender, first, second] = [
      await live(fresh.url, name),
      await live(fresh.url, name),
      await live(fresh.url, name),
    ]
    await first.engine.start()
    await second.engine.start()
    const { runs } = await sender.engine.send({ type: 'order.placed', data: {} })
    const run = runs[0] as RunId
    await until(
      () => sender.engine.look(run),
      ({ status }) => status === 'waiting',
    )
    await first.close()
    const ended = await until(
      () => sender.engine.look(run),
      ({ status }) => status === 'success',
      { timeoutMs: 20_000 },
    )
    expect(ended.output).toBe('rested')
    await second.close()
    await sender.close()
    await fresh.drop()
  })
})
