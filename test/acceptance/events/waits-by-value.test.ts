/** Runs that wait for their own value of one event type: what a wake reads, counted. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestStore } from '#testing/system.ts'

const shop = {
  name: 'shop',
  events: { 'order.placed': null, 'order.paid': null },
  functions: [
    fn('wait', { trigger: 'order.placed' }, async ({ step }) => {
      const { events } = await step.waitForEvent('paid', { event: 'order.paid', match: 'payload.id' })
      return events[0]?.data ?? null
    }),
  ],
}

/** A store that counts the events that the ledger returns, and the calls for them. */
const counting = (place: TestStore) => {
  const read = { calls: 0, events: 0 }
  const open: TestStore['open'] = async (clock) => {
    const store = await place.open(clock)
    const { ledger } = store
    const events: typeof ledger.events = async (query) => {
      const found = await ledger.events(query)
      read.calls += 1
      read.events += found.length
      return found
    }
    return {
      ...store,
      ledger: new Proxy(ledger, { get: (target, name) => (name === 'events' ? events : bound(target, name)) }),
    }
  }
  return { read, place: { ...place, open } }
}

const bound = <Target extends object>(target: Target, name: string | symbol): unknown => {
  const value = Reflect.get(target, name) as unknown
  return typeof value === 'function' ? value.bind(target) : value
}

onEveryStore('waits by value', (store) => {
  const start = async () => {
    const { read, place } = counting(store())
    const system = await startTestSystem(shop, place)
    const send = (type: string, from: number, count: number) =>
      system.run(() =>
        Promise.all(Array.from({ length: count }, (_, i) => system.engine.send({ type, data: { id: from + i } }))),
      )
    return { read, system, send }
  }

  /** What the wake of one run reads when this many other events of the type have come since the run began. */
  const readBeside = async (others: number) => {
    const { read, system, send } = await start()
    const { runs } = await system.send({ type: 'order.placed', data: { id: 0 } })
    await system.settle()
    await send('order.paid', 1, others)
    await system.settle()
    const before = { ...read }
    await system.send({ type: 'order.paid', data: { id: 0 } })
    await system.settle()
    expect(await system.look(runs[0] as RunId)).toMatchObject({ status: 'success', output: { id: 0 } })
    await system.close()
    return { calls: read.calls - before.calls, events: read.events - before.events }
  }

  test('[C1] a wake for one value reads the same whether none or 2,500 other events of the type exist (13.2.4)', async () => {
    const beside = await readBeside(2_500)
    expect(beside).toEqual(await readBeside(0))
    expect(beside.events).toBeLessThanOrEqual(2)
  })

  test('[C1] 1,200 runs that each wait for their own value are woken by one read of each event (13.2.4)', async () => {
    const { read, system, send } = await start()
    const runs = (await send('order.placed', 0, 1_200)).flatMap((receipt) => receipt.runs)
    await system.settle()
    const before = { ...read }
    await send('order.paid', 0, 1_200)
    await system.settle()
    for (const run of [runs[0], runs[600], runs.at(-1)])
      expect((await system.look(run as RunId)).status).toBe('success')
    // Each run reads the event that started it and the one that it waited for.
    expect(read.events - before.events).toBeLessThanOrEqual(2 * 1_200)
    expect(read.calls - before.calls).toBeLessThanOrEqual(1_200)
    await system.close()
  })

  test('[V17] a run that begins to wait finds its value among 1,100 events that came before the wait (13.2.4)', async () => {
    const { read, place } = counting(store())
    const late = fn('late', { trigger: 'order.placed' }, async ({ step }) => {
      await step.sleep('first', '1h')
      const { events } = await step.waitForEvent('paid', { event: 'order.paid', match: 'payload.id' })
      return events[0]?.data ?? null
    })
    const system = await startTestSystem({ ...shop, functions: [late] }, place)
    const { runs } = await system.send({ type: 'order.placed', data: { id: 7 } })
    await system.run(() =>
      Promise.all(Array.from({ length: 1_100 }, (_, id) => system.engine.send({ type: 'order.paid', data: { id } }))),
    )
    const before = read.events
    await system.advance('2h')
    expect(await system.look(runs[0] as RunId)).toMatchObject({ status: 'success', output: { id: 7 } })
    expect(read.events - before).toBeLessThanOrEqual(3)
    await system.close()
  })
})
