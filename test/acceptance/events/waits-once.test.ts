/** Waits of one run: each event counts once, first in first out, whatever the order of waits, events and crashes. */
import { expect, test } from 'vitest'
import { fn } from '#executors/workflow/function.ts'
import type { Step, WaitOptions } from '#executors/workflow/step-api.ts'
import type { RunId } from '#model/kernel/ids.ts'
import { onEveryStore } from '#test/support/stores/stores.ts'
import { startTestSystem, type TestStore } from '#testing/system.ts'

const EVENTS = { 'order.placed': null, signed: null, shipped: null, 'order.stopped': null }

const numbers = (events: readonly { readonly data: unknown }[]): readonly unknown[] =>
  events.map(({ data }) => (data as { readonly n: number }).n)

const waits = (body: (step: Step) => Promise<unknown>, more: { readonly cancel_on?: readonly [] } = {}) => ({
  name: 'waits',
  events: EVENTS,
  functions: [fn('wait', { trigger: 'order.placed', ...more }, ({ step }) => body(step))],
})

const SIGNED: WaitOptions = { event: 'signed', match: 'payload.id' }

/** A number of events, one after another. */
type Started = Awaited<ReturnType<typeof startTestSystem>>

const begin = async (system: Started, id = 1): Promise<RunId> => {
  const { runs } = await system.send({ type: 'order.placed', data: { id } })
  await system.settle()
  return runs[0] as RunId
}

const sign = async (system: Started, ns: readonly number[], id = 1, type = 'signed'): Promise<void> => {
  for (const n of ns) await system.send({ type, data: { id, n } })
  await system.settle()
}

const inRow = async (step: Step, options: WaitOptions = SIGNED): Promise<readonly unknown[]> => {
  const found: unknown[] = []
  for (const key of ['1', '2', '3'])
    found.push(...numbers((await step.waitForEvent('sign', { ...options, key })).events))
  return found
}

/** Counts what the ledger returns. */
const counting = (place: TestStore) => {
  const read = { events: 0 }
  const open: TestStore['open'] = async (clock) => {
    const store = await place.open(clock)
    const ledger = new Proxy(store.ledger, {
      get: (target, name) => {
        const value = Reflect.get(target, name) as unknown
        if (typeof value !== 'function') return value
        if (name !== 'events') return value.bind(target)
        return async (query: never) => {
          const found = (await value.call(target, query)) as readonly unknown[]
          read.events += found.length
          return found
        }
      },
    })
    return { ...store, ledger }
  }
  return { read, place: { ...place, open } }
}

onEveryStore('each event once per run', (store) => {
  test('[C1] consumed-1: three waits in a row for one type get events 1, 2 and 3 (14.3)', async () => {
    const system = await startTestSystem(
      waits((step) => inRow(step)),
      store(),
    )
    const run = await begin(system)
    await sign(system, [1])
    expect((await system.look(run)).status).toBe('waiting')
    await sign(system, [2, 3])
    expect(await system.look(run)).toMatchObject({ status: 'success', output: [1, 2, 3] })
    await system.close()
  })

  test('[C1] events that came before the waits are received one by one, in their order (14.3)', async () => {
    const body = async (step: Step) => {
      await step.sleep('first', '1h')
      return inRow(step)
    }
    const system = await startTestSystem(waits(body), store())
    const run = await begin(system)
    await sign(system, [1, 2, 3])
    await system.advance('2h')
    expect(await system.look(run)).toMatchObject({ status: 'success', output: [1, 2, 3] })
    await system.close()
  })

  test('[C1] one signature does not satisfy two waits that are open at once (14.3)', async () => {
    const body = async (step: Step) => {
      const both = await Promise.all([step.waitForEvent('first', SIGNED), step.waitForEvent('second', SIGNED)])
      return both.flatMap(({ events }) => numbers(events))
    }
    const system = await startTestSystem(waits(body), store())
    const run = await begin(system)
    await sign(system, [1])
    expect((await system.look(run)).status).toBe('waiting')
    await sign(system, [2])
    expect(await system.look(run)).toMatchObject({ status: 'success', output: [1, 2] })
    await system.close()
  })

  test('[C1] open-wait-1: ten waits at once get ten existing events, each its own, in order (14.3)', async () => {
    const keys = Array.from({ length: 10 }, (_, i) => String(i))
    const body = async (step: Step) => {
      await step.sleep('first', '1h')
      const all = await Promise.all(keys.map((key) => step.waitForEvent('sign', { ...SIGNED, key })))
      return all.flatMap(({ events }) => numbers(events))
    }
    const system = await startTestSystem(waits(body), store())
    const run = await begin(system)
    await sign(system, [0, 1, 2, 3, 4, 5, 6, 7])
    await system.advance('2h')
    expect((await system.look(run)).status).toBe('waiting')
    await sign(system, [8, 9])
    expect(await system.look(run)).toMatchObject({ status: 'success', output: keys.map(Number) })
    await system.close()
  })

  test('[C1] two runs of one worker each get the same event once (14.3)', async () => {
    const system = await startTestSystem(
      waits((step) => inRow(step)),
      store(),
    )
    const runs = [await begin(system), await begin(system)]
    await sign(system, [1, 2, 3])
    for (const run of runs) expect(await system.look(run)).toMatchObject({ status: 'success', output: [1, 2, 3] })
    await system.close()
  })

  test('[C1] a crash between the waits does not change which wait gets which event (14.3)', async () => {
    const system = await startTestSystem(
      waits((step) => inRow(step)),
      store(),
    )
    const run = await begin(system)
    await sign(system, [1])
    await system.crash()
    await sign(system, [2])
    await system.crash()
    await sign(system, [3])
    expect(await system.look(run)).toMatchObject({ status: 'success', output: [1, 2, 3] })
    await system.close()
  })

  test('[C1] a wait without an event left for it times out (14.3)', async () => {
    const body = async (step: Step) => {
      const first = await step.waitForEvent('first', SIGNED)
      const second = await step.waitForEvent('second', { ...SIGNED, timeout: '1h' })
      return [first.status, second.status]
    }
    const system = await startTestSystem(waits(body), store())
    const run = await begin(system)
    await sign(system, [1])
    await system.advance('2h')
    expect(await system.look(run)).toMatchObject({ status: 'success', output: ['received', 'timed_out'] })
    await system.close()
  })

  test('[C1] take: all takes the existing events, up to its max, and leaves the rest to the next wait (14.3)', async () => {
    const body = async (step: Step) => {
      await step.sleep('first', '1h')
      const some = await step.waitForEvent('some', { ...SIGNED, take: 'all', max: 2 })
      const rest = await step.waitForEvent('rest', { ...SIGNED, take: 'all' })
      const next = await step.waitForEvent('next', { ...SIGNED, take: 'all' })
      return [numbers(some.events), numbers(rest.events), numbers(next.events)]
    }
    const system = await startTestSystem(waits(body), store())
    const run = await begin(system)
    await sign(system, [1, 2, 3, 4, 5])
    await system.advance('2h')
    expect((await system.look(run)).status).toBe('waiting')
    await sign(system, [6])
    expect(await system.look(run)).toMatchObject({ status: 'success', output: [[1, 2], [3, 4, 5], [6]] })
    await system.close()
  })

  test('[C1] take: all with allOf, and a max without it, are refused with a hint (14.3)', async () => {
    for (const options of [
      { allOf: ['signed', 'shipped'], take: 'all' as const },
      { event: 'signed', max: 3 },
      { event: 'signed', take: 'all' as const, max: 1_001 },
    ]) {
      const system = await startTestSystem(
        waits((step) => step.waitForEvent('x', options)),
        store(),
      )
      const run = await begin(system)
      expect(await system.look(run)).toMatchObject({ status: 'failed', error: { code: 'STEP_MISUSED' } })
      await system.close()
    }
  })

  test('[C1] waits with a lookback duration or with none skip events that the run has received (14.3)', async () => {
    const body = async (step: Step) => {
      const within = await inRow(step, { ...SIGNED, lookback: '1d' })
      const after = await step.waitForEvent('after', { ...SIGNED, lookback: 'none' })
      return [...within, ...numbers(after.events)]
    }
    const system = await startTestSystem(waits(body), store())
    await sign(system, [1])
    const run = await begin(system)
    await sign(system, [2])
    await sign(system, [3])
    await sign(system, [4])
    expect(await system.look(run)).toMatchObject({ status: 'success', output: [1, 2, 3, 4] })
    await system.close()
  })

  test('[C1] a wait for all and a wait for one share no event (14.3)', async () => {
    const body = async (step: Step) => {
      const [all, one] = await Promise.all([
        step.waitForEvent('all', { allOf: ['signed', 'shipped'], match: 'payload.id' }),
        step.waitForEvent('one', SIGNED),
      ])
      return [numbers(all.events), numbers(one.events)]
    }
    const system = await startTestSystem(waits(body), store())
    const run = await begin(system)
    await sign(system, [1])
    await sign(system, [2], 1, 'shipped')
    expect((await system.look(run)).status).toBe('waiting')
    await sign(system, [3])
    expect(await system.look(run)).toMatchObject({ status: 'success', output: [[1, 2], [3]] })
    await system.close()
  })

  test('[C1] consumed-2: the hundredth wait in a row reads no more than the tenth (14.3)', async () => {
    const { read, place } = counting(store())
    const body = async (step: Step) => {
      await step.sleep('first', '1h')
      for (let n = 0; n < 120; n++) await step.waitForEvent('sign', { ...SIGNED, key: String(n) })
      return 'over'
    }
    const system = await startTestSystem(waits(body), place)
    const run = await begin(system)
    await system.run(() =>
      Promise.all(Array.from({ length: 120 }, (_, n) => system.engine.send({ type: 'signed', data: { id: 1, n } }))),
    )
    const before = read.events
    await system.advance('2h')
    expect(await system.look(run)).toMatchObject({ status: 'success', output: 'over' })
    expect(read.events - before).toBeLessThan(120 * 20)
    await system.close()
  })
})
