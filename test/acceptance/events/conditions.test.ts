/** Conditions over the contents of the ledger: each fires once, with hysteresis, across restarts. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import type { ConditionTrigger } from '#model/event/watch.ts'
import { LOCAL_TENANT } from '#model/kernel/ids.ts'
import { openDoors } from '#test/support/doors.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestStore } from '#testing/system.ts'

const open = async (place: TestStore, condition: (session: string) => ConditionTrigger) => {
  const inert = fn('order', { trigger: 'order.placed' }, ({ step }) => step.waitForEvent('go', { event: 'go' }))
  const put = fn('put', {}, ({ input, step }) =>
    step.run('put', ({ write }) => write('stock', 'apple', { left: input }), { effect: 'transactional' }),
  )
  const base = { name: 'shop', events: { 'order.placed': null, go: null } }
  const system = await startTestSystem({ ...base, functions: [inert, put] }, place)
  const session = await system.run(() => system.engine.sessions.create())
  const alarm = fn('alarm', { trigger: condition(session) }, ({ input }) => input)
  const whole = { ...base, functions: [inert, put, alarm] }
  await system.crash(whole)
  let doors = openDoors(system, place)
  const watch = () => system.run(() => doors.host.follow(system.engine.definition))
  await watch()
  return {
    system,
    session,
    alarms: async () => {
      const query = { tenant: LOCAL_TENANT, handler: 'alarm', status: null, before: null, limit: 50 }
      return (await system.store.reader.runs(query)).length
    },
    order: async (count: number) => {
      for (let i = 0; i < count; i++) await system.send({ type: 'order.placed', data: {} })
      await system.settle()
    },
    restart: async () => {
      await system.crash(whole)
      doors = openDoors(system, place)
      await watch()
    },
    close: async () => {
      await system.run(() => doors.host.stop())
      await system.close()
    },
  }
}

onEveryStore('conditions', (store) => {
  test('[L7] a condition on the number of waiting runs fires once, and again only after the number was low', async () => {
    const shop = await open(store(), () => ({
      condition: 'runs.waiting > 3',
      rearm: 'runs.waiting < 2',
      every: '5s',
    }))
    await shop.order(3)
    await shop.system.advance('20s')
    expect(await shop.alarms()).toBe(0)
    await shop.order(1)
    await shop.system.advance('1m')
    expect(await shop.alarms()).toBe(1)
    await shop.restart()
    await shop.system.advance('1m')
    expect(await shop.alarms()).toBe(1)
    await shop.system.send({ type: 'go', data: {} })
    await shop.system.advance('10s')
    await shop.order(4)
    await shop.system.advance('10s')
    expect(await shop.alarms()).toBe(2)
    await shop.close()
  })

  test('[L7] the queue length of one function is a condition of its own', async () => {
    const shop = await open(store(), () => ({ condition: 'queue.order.waiting >= 2 && queue["alarm"].length == 0' }))
    await shop.order(1)
    await shop.system.advance('10s')
    expect(await shop.alarms()).toBe(0)
    await shop.order(1)
    await shop.system.advance('10s')
    expect(await shop.alarms()).toBe(1)
    await shop.close()
  })

  test('[L3] a condition must hold for its duration, which a crash does not restart', async () => {
    const shop = await open(store(), () => ({ condition: 'runs.waiting > 0', for: '30s', every: '10s' }))
    await shop.order(1)
    await shop.system.advance('21s')
    expect(await shop.alarms()).toBe(0)
    await shop.restart()
    await shop.system.advance('20s')
    expect(await shop.alarms()).toBe(1)
    await shop.close()
  })

  test('[L3] a change of a document or of a session’s memory fires once each', async () => {
    const documents = { stock: { table: 'stock', key: 'apple' } }
    const shop = await open(store(), () => ({ condition: 'table.stock', edge: 'change', reads: documents }))
    for (const left of [5, 5, 4]) {
      await shop.system.start('put', left)
      await shop.system.advance('10s')
    }
    expect(await shop.alarms()).toBe(2)
    await shop.close()
    const memory = await open(store(), (session) => ({ condition: 'session.mood', edge: 'change', session }))
    for (const mood of ['good', 'bad', 'bad']) {
      await memory.system.run(() => memory.system.engine.sessions.remember(memory.session as never, 'mood', mood))
      await memory.system.advance('10s')
    }
    expect(await memory.alarms()).toBe(2)
    await memory.close()
  })

  test('[L3] source-1: two processes that evaluate the same condition fire it once', async () => {
    const place = store()
    const shop = await open(place, () => ({ condition: 'runs.waiting > 0' }))
    const second = openDoors(shop.system, place)
    await shop.system.run(() => second.host.follow(shop.system.engine.definition))
    await shop.order(1)
    await shop.system.advance('30s')
    expect(await shop.alarms()).toBe(1)
    await shop.system.run(() => second.host.stop())
    await shop.close()
  })
})
