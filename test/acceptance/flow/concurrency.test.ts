/** Concurrency and priority of a handler: how many of its runs are active at once, and which waiting run is next. */
import { expect, test } from 'vitest'
import { type FunctionOptions, fn } from '#executors/workflow/function.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem } from '#testing/system.ts'

interface Order {
  readonly n: number
  readonly customer?: string
  readonly urgency?: number
}

onEveryStore('concurrency', (store) => {
  /** A handler whose step runs until the test releases it. */
  const begin = async (options: Partial<FunctionOptions<Order>>) => {
    const atWork = new Map<number, () => void>()
    const begun: number[] = []
    const work = ({ n }: Order): Promise<void> =>
      new Promise((resolve) => {
        begun.push(n)
        atWork.set(n, resolve)
      })
    const system = await startTestSystem(
      {
        name: 'work',
        events: { 'order.placed': null },
        functions: [
          fn<Order>('work', { trigger: 'order.placed', ...options }, ({ input, step }) =>
            step.run('work', () => work(input)),
          ),
          fn<{ orders: readonly Order[] }>('all', {}, async ({ input, step }) => {
            await Promise.all(input.orders.map((order) => step.invoke('one', 'work', order, { key: String(order.n) })))
            return 'done'
          }),
          fn<Order>('nap', { trigger: 'order.placed', concurrency: 1 }, async ({ step }) => {
            await step.sleep('nap', '1h')
            return 'rested'
          }),
        ],
      },
      store(),
    )
    const place = async (...orders: readonly Order[]): Promise<void> => {
      for (const order of orders) await system.send({ type: 'order.placed', data: { ...order } })
      await system.settle()
    }
    const finish = async (n: number): Promise<void> => {
      atWork.get(n)?.()
      atWork.delete(n)
      await system.settle()
    }
    return { system, begun, place, finish, now: () => [...atWork.keys()].sort() }
  }
  const orders = (...ns: readonly number[]): readonly Order[] => ns.map((n) => ({ n }))

  test('[J2] as many runs as the limit are active, and the next begins when one ends', async () => {
    const { system, place, finish, now } = await begin({ concurrency: 2 })
    await place(...orders(1, 2, 3, 4))
    expect(now()).toEqual([1, 2])
    await finish(2)
    expect(now()).toEqual([1, 3])
    await finish(1)
    await finish(3)
    expect(now()).toEqual([4])
    await finish(4)
    await system.close()
  })

  test('each key has its own limit', async () => {
    const { system, place, finish, now } = await begin({ concurrency: [{ limit: 1, key: 'payload.customer' }] })
    const of = (customer: string, ...ns: readonly number[]) => ns.map((n) => ({ n, customer }))
    await place(...of('ana', 1, 2), ...of('bob', 3, 4))
    expect(now()).toEqual([1, 3])
    await finish(3)
    expect(now()).toEqual([1, 4])
    await system.close()
  })

  test('keys share the slots by their weight, however many runs of one key wait before', async () => {
    const { system, place, finish, now } = await begin({
      concurrency: 4,
      fairness: { key: 'payload.customer', weight: 'payload.customer == "b" ? 3 : 1' },
    })
    await place(...[1, 2, 3, 4, 5, 6].map((n) => ({ n, customer: 'a' })))
    expect(now()).toEqual([1, 2, 3, 4])
    await place(...[21, 22, 23, 24].map((n) => ({ n, customer: 'b' })))
    for (const n of [1, 2, 3]) await finish(n)
    expect(now().sort((a, b) => a - b)).toEqual([4, 21, 22, 23])
    await finish(21)
    expect(now().sort((a, b) => a - b)).toEqual([4, 22, 23, 24])
    for (const n of [4, 22, 23, 24, 5, 6]) await finish(n)
    await system.close()
  })

  test('a total limits all keys together', async () => {
    const { system, place, finish, now } = await begin({
      concurrency: [{ limit: 2, total: 3, key: 'payload.customer' }],
    })
    await place(...[1, 2, 3].map((n) => ({ n, customer: 'a' })), ...[4, 5].map((n) => ({ n, customer: 'b' })))
    expect(now()).toEqual([1, 2, 4])
    await finish(1)
    expect(now()).toHaveLength(3)
    for (const n of [2, 4, 3, 5]) await finish(n)
    await system.close()
  })

  test('a sleeping run holds no slot: the next one begins beside it', async () => {
    const { system, place } = await begin({ concurrency: 9 })
    await place(...orders(1, 2, 3))
    const { reader } = system.store
    const asleep = await reader.runs({
      tenant: LOCAL_TENANT,
      handler: 'nap',
      status: 'waiting',
      before: null,
      limit: 9,
    })
    expect(asleep).toHaveLength(3)
    await system.close()
  })

  test('[N5] the slots of a dead process are free once its leases expire', async () => {
    const { system, begun, place } = await begin({ concurrency: 1 })
    await place(...orders(1, 2))
    await system.crash()
    await system.advance('1m')
    expect(begun).toEqual([1, 1])
    await system.close()
  })

  test('the run with the highest priority begins first', async () => {
    const { system, place, finish, begun } = await begin({ concurrency: 1, priority: 'payload.urgency' })
    await place({ n: 1, urgency: 0 }, { n: 2, urgency: 0 }, { n: 3, urgency: 60 }, { n: 4, urgency: -60 })
    for (const n of [1, 3, 2, 4]) await finish(n)
    expect(begun).toEqual([1, 3, 2, 4])
    await system.close()
  })

  test('children and runs started by name wait for the same slots as those of events', async () => {
    const { system, place, finish, now } = await begin({ concurrency: 2 })
    await place(...orders(1))
    const parent = await system.start('all', { orders: [{ n: 2 }, { n: 3 }] })
    await system.settle()
    expect(now()).toEqual([1, 2])
    for (const n of [1, 2, 3]) await finish(n)
    expect(await system.look(parent)).toMatchObject({ status: 'success', output: 'done' })
    await system.close()
  })

  test('a key that cannot be evaluated starts nothing, and records the reason', async () => {
    const { system, begun } = await begin({ concurrency: [{ limit: 1, key: 'payload.customer' }] })
    const { sequence } = await system.send({ type: 'order.placed', data: { n: 1 } })
    await system.settle()
    const suppressed = await system.store.reader.suppressed(LOCAL_TENANT, sequence)
    expect(suppressed).toMatchObject([{ trigger: 'work', reason: 'error' }])
    await expect(system.start('work', { n: 2 })).rejects.toMatchObject({ code: 'EXPR_FAILED' })
    expect(begun).toEqual([])
    await system.close()
  })

  /** A run with three parallel steps, each of which runs until the test releases it. */
  const sideBySide = async (unit: 'step' | 'run') => {
    const atWork = new Map<string, () => void>()
    const hold = (name: string): Promise<string> => new Promise((resolve) => atWork.set(name, () => resolve(name)))
    const work = fn('work', { concurrency: [{ limit: 2, unit }] }, ({ step }) =>
      Promise.all(['a', 'b', 'c'].map((name) => step.run(name, () => hold(name)))),
    )
    const system = await startTestSystem({ name: 'work', functions: [work] }, store())
    const run = await system.start('work')
    await system.settle()
    const finish = async (name: string): Promise<void> => {
      atWork.get(name)?.()
      atWork.delete(name)
      await system.settle()
    }
    return { system, run, finish, now: () => [...atWork.keys()] }
  }

  test('[H5] step-mutex-1: under a limit on steps the steps of a run are performed one after the other', async () => {
    const { system, run, finish, now } = await sideBySide('step')
    for (const name of ['a', 'b', 'c']) {
      expect(now()).toEqual([name])
      await finish(name)
    }
    expect(await system.look(run)).toMatchObject({ status: 'success', output: ['a', 'b', 'c'] })
    await system.close()
  })

  test('[H5] under a limit on runs the steps of a run are performed in parallel', async () => {
    const { system, run, finish, now } = await sideBySide('run')
    expect(now()).toEqual(['a', 'b', 'c'])
    for (const name of ['c', 'b', 'a']) await finish(name)
    expect(await system.look(run)).toMatchObject({ status: 'success' })
    await system.close()
  })

  test('step-mutex-2: a run that is cancelled with queued steps ends, and none of these begins', async () => {
    const { system, run, finish, now } = await sideBySide('step')
    await system.run(() => system.engine.cancel(run, 'ana', 'no longer needed'))
    await finish('a')
    await system.advance('10s')
    expect([now(), (await system.look(run)).status]).toEqual([[], 'cancelled'])
    await system.close()
  })

  test('an event above the limit starts no run if the limit says skip', async () => {
    const { system, place, finish, now } = await begin({ concurrency: [{ limit: 2, onLimit: 'skip' }] })
    await place(...orders(1, 2, 3, 4))
    expect(now()).toEqual([1, 2])
    await finish(1)
    expect(now()).toEqual([2])
    await place(...orders(5))
    expect(now()).toEqual([2, 5])
    await system.close()
  })

  test.each([
    ['cancel_oldest', ['cancelled', 'waiting', 'waiting']],
    ['cancel_newest', ['waiting', 'cancelled', 'waiting']],
  ] as const)('with %s another run of the key makes room for the next, also after a crash', async (onLimit, ends) => {
    const nap = fn(
      'nap',
      { trigger: 'nap.wanted', concurrency: [{ limit: 2, key: 'payload.key', onLimit }] },
      ({ step }) => step.sleep('nap', '1h'),
    )
    const system = await startTestSystem({ name: 'naps', events: { 'nap.wanted': null }, functions: [nap] }, store())
    const send = async (n: number, key: string) => {
      await system.send({ type: 'nap.wanted', data: { n, key } })
      // Runs are listed by the time of their events.
      await system.advance('1s')
    }
    await send(1, 'a')
    await send(2, 'a')
    await send(9, 'b')
    await system.crash()
    await send(3, 'a')
    const query = { tenant: LOCAL_TENANT, handler: 'nap', status: null, before: null, limit: 10 }
    const runs = await system.run(() => system.store.reader.runs(query))
    const statuses = await Promise.all(
      runs.toReversed().map(async ({ id }) => (await system.run(() => system.look(id))).status),
    )
    expect(statuses).toEqual([ends[0], ends[1], 'waiting', ends[2]])
    await system.close()
  })
})
